function text = sizeText (d)
%sizeText  Dimensions as a text: 2x3.

  text = sprintf ('%dx', d);
  text(end) = [];
end
