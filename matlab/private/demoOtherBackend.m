function words = demoOtherBackend (stage, used, run)
%demoOtherBackend  Whether the other backend gives the same bits, in words.
%
%   WORDS = demoOtherBackend (STAGE, USED, RUN)
%
%   USED is the result that STAGE's backend gave, an ordinary array. RUN
%   (OPTIONS) computes it again, with options for DeviceArray. Where there is no
%   GPU there is no other backend.

  if ~stage.device.DeviceSupported
    words = 'there is no GPU here to compare with';
    return
  end
  other = 'cpu';
  if strcmp (stage.device.Backend, 'cpu')
    other = 'cuda';
  end
  if isequal (used, run ({'Backend', other}))
    words = sprintf ('%s gives the same bits', other);
  else
    words = sprintf ('%s gives OTHER BITS', other);
  end
end
