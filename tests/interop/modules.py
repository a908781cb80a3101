"""Small modules, each with what makes it one of its kind, and the arguments of a call."""

import collections

import torch
import torch.nn as nn
import torch.nn.functional as F


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.5)
        self.down = nn.MaxPool2d(2)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        x = self.down(F.gelu(self.norm(self.conv(x))))
        return self.head(self.drop(x).mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(8, 3)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        return self.gru(y)[0], {"h": h, "c": c}


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(7, 4, padding_idx=0)
        self.scores = nn.Linear(4, 7, bias=False)
        self.scores.weight = self.table.weight

    def forward(self, tokens):
        return self.scores(torch.tanh(self.table(tokens)))


class Buffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 4))
        self.register_buffer("order", torch.tensor([2, 0, 1]))
        self.register_buffer("mask", torch.tensor([True, False, True, True]), persistent=False)
        self.register_buffer("calls", torch.tensor(0))
        self.scale = torch.tensor([0.5, 2.0, 1.0, -1.0])  # no buffer: a constant

    def forward(self, x):
        self.calls += 1
        return (self.weight[self.order] * x).masked_fill(self.mask, 0.25) * self.scale + self.calls


class Branching(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))

    def forward(self, x):
        from torch._higher_order_ops.scan import scan

        y = torch.cond(x.sum() > 0, lambda a: a.sin() * 2, lambda a: a.cos(), (x,))
        last, all_states = scan(lambda c, t: (c * t + 1, (c * t).exp()), self.weight, y, dim=0)
        return last, all_states


class Looping(nn.Module):
    def forward(self, x):
        from torch._higher_order_ops.while_loop import while_loop

        count = torch.zeros((), dtype=torch.int64)
        body = lambda i, a: (i + 1, a * 1.5)
        return while_loop(lambda i, a: i < 3, body, (count, x))[1]


class Writing(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4))

    def forward(self, x):
        y = x * self.weight
        y[:, 1:3] = y[:, 0:2].clone() * 2
        row = y[0]
        row.mul_(3)
        y.view(-1)[::2] += 1
        y[y > 1] = 0.5
        y.t().clamp_(max=2)
        return y, row, y.detach() * self.weight


Pair = collections.namedtuple("Pair", "first second")


class Structured(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    def forward(self, batch, *, mask=None, scale=1.0, names=("a", "b")):
        x = self.net(batch["x"]) * scale
        if mask is not None:
            x = x * mask
        z, a = Pair(x, [batch["y"][0], None]), {names[1]: x.sum(0), names[0]: 3}
        return z, a, x.max(1)


class Silent(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))

    def forward(self, x):
        with torch.no_grad():
            constant = (x * self.weight).exp()
            with torch.enable_grad():
                slope = constant * self.weight
        y = constant * self.weight + slope
        with torch.no_grad():
            z = y + torch.sin(y)
        return y * z, constant.sin() * x


class Unrecorded(nn.Module):
    """Writes that change values alone: derivatives are those from before."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4))
        self.register_buffer("seen", torch.ones(4))

    def forward(self, x):
        y = x * self.weight
        with torch.no_grad():
            self.seen.mul_(0.5).add_(x[0] * self.weight)
            y[:, 1:3].mul_(x[:, :2])
            y.add_(1)
        y.detach()[0].clamp_(min=0.25).mul_(torch.tensor(2.0)).add_(self.seen)
        copied = y.detach().t().reshape(-1).mul_(2)
        z = y.detach()
        z.narrow(1, 0, 2).copy_(x.detach()[:, 2:] * 2).masked_fill_(x[:, :2] > 1, 0.5)
        first = torch.cond(x.sum() > 0, self.doubled, lambda a: a.cos(), (x,))
        return y.view(-1), y * z * self.seen, first, copied * x.sum()

    def doubled(self, a):
        a = a.sin()
        a.detach().mul_(2)
        return a * 1


class Masked(nn.Module):
    """Layers that would look at a mask's values, to choose a kernel."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoder(encoder(), 2)
        layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 1)

    def forward(self, x, mask):
        causal = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        memory = self.encoder(x, mask)
        return self.decoder(x, memory, tgt_mask=causal)


class Likely(nn.Module):
    """Distributions, which would look at their arguments to check them."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4))

    def forward(self, x):
        law = torch.distributions.Normal(x * self.weight, F.softplus(self.weight))
        other = torch.distributions.Normal(self.weight, 1.0)
        choice = torch.distributions.Categorical(logits=x * self.weight)
        gap = torch.distributions.kl_divergence(law, other)
        return law.log_prob(x), gap, choice.entropy(), choice.log_prob(x.argmax(1))


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3).requires_grad_(False)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))


def seeded(make, *args, **options):
    torch.manual_seed(0)
    return make(*args, **options).double()


def tensor(*shape):
    generator = torch.Generator().manual_seed(len(shape) + sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def encoder(**options):
    return nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, **options)


# Name, module, positional arguments and keyword arguments of one call in evaluation.
CALLS = {
    "convolutional": lambda: (seeded(Convolutional), (tensor(2, 3, 9, 9),), {}),
    "encoder": lambda: (seeded(encoder), (tensor(2, 5, 8),), {}),
    "masked encoder": lambda: (
        seeded(encoder, norm_first=True, activation="gelu"),
        (tensor(2, 5, 8),),
        {"src_key_padding_mask": torch.arange(5) > torch.tensor([[3], [2]])},
    ),
    "recurrent": lambda: (seeded(Recurrent), (tensor(2, 4, 3),), {}),
    "tied": lambda: (seeded(Tied), (torch.tensor([[1, 0, 5], [6, 2, 2]]),), {}),
    "buffers": lambda: (seeded(Buffers), (tensor(3, 4),), {}),
    "branching": lambda: (seeded(Branching), (tensor(4, 3),), {}),
    "writing": lambda: (seeded(Writing), (tensor(3, 4),), {}),
    "structured": lambda: (
        seeded(Structured),
        ({"x": tensor(2, 3), "y": (tensor(2),)},),
        {"mask": tensor(2, 3) > 0, "scale": 0.5},
    ),
    "silent": lambda: (seeded(Silent), (tensor(3),), {}),
    "unrecorded": lambda: (seeded(Unrecorded), (tensor(3, 4),), {}),
    "masked layers": lambda: (
        seeded(Masked),
        (tensor(2, 5, 8), torch.arange(5) > torch.tensor([[1], [4], [2], [3], [4]])),
        {},
    ),
    "likely": lambda: (seeded(Likely), (tensor(3, 4),), {}),
    "frozen": lambda: (seeded(Frozen), (tensor(2, 3),), {}),
}
