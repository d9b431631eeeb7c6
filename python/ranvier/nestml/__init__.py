"""Reads neurons from files of NESTML, the modelling language of the NEST initiative, as models of equations."""
