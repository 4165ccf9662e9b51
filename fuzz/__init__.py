"""Campaigns that look for faults: targets for every reader, killers, racers, command lines."""
