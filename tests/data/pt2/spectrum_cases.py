"""Cases with Fourier transforms. Rows of make_cases.py, which calls add()."""
import torch


def stft(s, x):
    return torch.stft(x, 64, 16, 48, s.fixed_window, center=False, return_complex=True)


def filtered(s, x):
    spectrum = torch.stft(x, 16, 4, window=s.fixed_window, return_complex=True)
    gain = torch.sigmoid(spectrum.abs() - 1)
    return torch.istft(spectrum * gain, 16, 4, window=s.fixed_window)


def products(s, x, y):
    spectrum = torch.fft.rfft(x)
    return (torch.fft.irfft(spectrum * torch.fft.rfft(y).conj(), n=48), torch.view_as_real(spectrum * torch.linspace(0, 1, 25)),
            torch.fft.irfft(torch.complex(x, y), norm='ortho'), (spectrum / 2 - torch.polar(s.fixed_size, s.fixed_angle)).imag)


def windows(s, x):
    return x * torch.hann_window(9) + torch.hamming_window(9, False) - torch.hamming_window(9, True, 0.6, 0.4) * torch.blackman_window(9)


def more_windows(s, x):
    return x * torch.bartlett_window(9) + torch.kaiser_window(9) - torch.kaiser_window(9, False) * torch.kaiser_window(9, True, 3.5) + torch.bartlett_window(9, False)


def parts(s, x):
    z = torch.view_as_complex(x)
    return (z * z).real, (z + 2).abs(), torch.view_as_real(z.unsqueeze(0) * 0.5)


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
        case('istft' + end, Net(filtered, fixed_window=Buffer(torch.hann_window(16))), (2, 40), core=core)
    case('windows', Net(windows), (2, 9))
    case('windows_more', Net(more_windows), (2, 9))
    case('complex_parts', Net(parts), (3, 5, 2))
    case('complex_products', Net(products, fixed_size=Buffer(torch.rand(25)), fixed_angle=Buffer(torch.rand(25))), (3, 48), (3, 48))
    case('stft_centered', net(lambda s, x: torch.stft(x, 64, 16, 48, s.fixed_window, normalized=True, return_complex=True).abs()),
         (2, 200))
