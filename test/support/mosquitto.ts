/** The command line clients of mosquitto, for tests that let others speak MQTT to us. */
import { spawnSync } from 'node:child_process'
import { describe, it } from 'vitest'

/** Runs the tests where the clients are installed; elsewhere one skipped test says what is missing. */
export function describeWithMosquitto(title: string, define: () => void): void {
  describe(title, () => {
    const { error } = spawnSync('mosquitto_pub', ['--help'], { stdio: 'ignore' })
    if (error === undefined) return define()
    const needed = 'mosquitto_pub is not installed; on Debian: apt-get install mosquitto-clients'
    // oxlint-disable-next-line vitest/expect-expect -- it only says why the others are left out
    it('needs mosquitto', ({ skip }) => skip(needed))
  })
}
