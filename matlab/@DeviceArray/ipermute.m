function v = ipermute (u, order)
%ipermute  Dimensions in the order before permute.
%
%   V = ipermute (U, ORDER)
%
%   ipermute (permute (U, ORDER), ORDER) is U.
%
%   Example
%     size (ipermute (DeviceArray (ones (2, 3, 4)), [2 3 1]))  % 4 2 3
%
%   See also DeviceArray, permute.

  ordinary ('ipermute', order);
  back(order) = 1:numel (order);
  v = permute (u, back);
end
