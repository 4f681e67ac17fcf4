function u = joined (what, instead, varargin)
%joined  One array by itself; the concatenation of several is refused.

  if numel (varargin) ~= 1
    refuse (['concatenation, ' what], instead);
  end
  u = varargin{1};
end
