/** Declares tests that need the real broker Mosquitto. */
import { describe, it } from 'vitest'
import { findMosquitto, type Program } from './mosquitto-broker.ts'

/** Runs the tests with a broker; otherwise one skipped test names what is missing. */
export function describeWithBroker(title: string, define: (program: Program) => void): void {
  describe(title, () => {
    const found = findMosquitto()
    if (typeof found === 'object') return define(found)
    // oxlint-disable-next-line vitest/expect-expect -- it only says why the others are left out
    it('needs mosquitto', ({ skip }) => skip(`${found}; on Debian: apt-get install mosquitto`))
  })
}
