function r = prod (u, varargin)
%prod  Products of elements.
%
%   P = prod (U)         along the first dimension that is not 1
%   P = prod (U, DIM)    along DIM
%   P = prod (U, DIMS)   along several, as along one
%   P = prod (U, 'all')  over all elements
%
%   One product is an ordinary number. Elements are multiplied in an order that
%   depends on their number alone, with the same bits on each device.
%
%   Example
%     prod (DeviceArray ([2 3 4]))  % 24
%
%   See also DeviceArray, sum, cumprod.

  if nargin == 1
    r = DeviceArray_CUDA ('prod', u, -1);
  else
    r = reduced ('prod', u, varargin{:});
  end
end
