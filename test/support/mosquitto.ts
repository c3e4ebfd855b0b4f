/** Provides mosquitto's command line clients, for tests with foreign MQTT clients. */
import { spawnSync } from 'node:child_process'
import { describe, it } from 'vitest'

/** Runs the tests if the clients are installed; otherwise one skipped test names what is missing. */
export function describeWithMosquitto(title: string, define: () => void): void {
  describe(title, () => {
    const { error } = spawnSync('mosquitto_pub', ['--help'], { stdio: 'ignore' })
    if (error === undefined) return define()
    const needed = 'mosquitto_pub is not installed; on Debian: apt-get install mosquitto-clients'
    // oxlint-disable-next-line vitest/expect-expect -- it only reports why the others are skipped
    it('needs mosquitto', ({ skip }) => skip(needed))
  })
}
