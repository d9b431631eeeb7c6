"""The results of the papers that describe the system, each by one command: `ranvier paper NAME --figure N`."""
