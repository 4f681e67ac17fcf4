function u = squeeze (this)
%squeeze  Without dimensions of one element, on the device; nothing is copied.
%
%   V = squeeze (U)
%
%   A matrix stays as it is.
%
%   Example
%     size (squeeze (DeviceArray (ones (2, 1, 3))))  % 2 3
%
%   See also DeviceArray, reshape, permute.

  d = size (this);
  if numel (d) > 2
    d = [d(d ~= 1) 1 1];
    this = reshape (this, d(1:max (2, find (d ~= 1, 1, 'last'))));
  end
  u = this;
end
