// Browsers refuse to read other pages of a site that is opened from a disk, so that the search, which
// would show what surrounds the words found, shows titles alone there.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
