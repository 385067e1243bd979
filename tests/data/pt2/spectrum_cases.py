"""Cases with Fourier transforms. Rows of make_cases.py, which calls add()."""
import torch


def stft(s, x):
    return torch.stft(x, 64, 16, 48, s.fixed_window, center=False, return_complex=True)


def add(rows):
    case, Net, Buffer = rows.case, rows.Net, rows.Buffer

    def net(forward):
        mel = torch.rand(33, 6, generator=torch.Generator().manual_seed(3))
        return Net(forward, fixed_window=Buffer(torch.hann_window(48)), fixed_mel=Buffer(mel))

    for core in [False, True]:
        end = '_core' * core
        case('stft_power' + end, net(lambda s, x: stft(s, x).abs() ** 2), (2, 200), core=core)
        case('stft_log_mel' + end, net(lambda s, x: torch.log(stft(s, x).abs().pow(2).transpose(-1, -2) @ s.fixed_mel + 1e-6)),
             (2, 200), core=core)
        case('rfft_power' + end, Net(lambda s, x: torch.fft.rfft(x, norm='ortho').unsqueeze(1).abs()), (3, 48), core=core)
    case('stft_centered', net(lambda s, x: torch.stft(x, 64, 16, 48, s.fixed_window, normalized=True, return_complex=True).abs()),
         (2, 200))
