function lrun(x)
  if x then
    return lgo(x)
  end
end
function lgo(x)
  return x
end
function odd()
  -- end
  --[[ end
  end ]]
  local s = "end" .. [[ end ]] .. [==[ end ]] ]==]
  for i = 1, 3 do
    repeat i = i + 1 until i > 2
    while i do i = nil end
  end
  return function() return 1 end
end
