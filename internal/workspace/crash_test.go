package workspace

const crashEnv = "TOOLSD_TEST_CRASH"

func crash(string) {}
