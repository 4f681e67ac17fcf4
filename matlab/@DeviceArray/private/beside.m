function u = beside (x, like)
%beside  A DeviceArray of X where LIKE lies.

  place = placeOf (like);
  u = DeviceArray (x, place{:});
end
