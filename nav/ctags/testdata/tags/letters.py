def café(x):
    pass
