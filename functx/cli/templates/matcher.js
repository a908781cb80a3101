// Which names are meant: by a part, a glob or a regular expression, as on the command line.
function matcher(pattern) {
  if (/[*?]/.test(pattern) && !/[\\^$|+(]|\.\*/.test(pattern)) {
    const glob = pattern.replace(/[.{}]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");
    pattern = `^(?:${glob})$`;
  }
  try { return new RegExp(pattern, "i"); } catch { return null; }
}
