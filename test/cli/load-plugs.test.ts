import { describe, expect, it } from 'vitest'
import { loadPlugs } from '../../src/host/load-plugs.ts'
import { runPlugLater } from '../support/plug-context.ts'

describe('the plugs of the command line', () => {
  it('have the clock of the machine, which ends scripts in time', async () => {
    const script = (await loadPlugs([])).find(({ name }) => name === 'script')
    if (script === undefined) throw new Error('no script')
    const now = performance.now.bind(performance)
    let later = 0
    performance.now = () => now() + (later += 600)
    try {
      const ran = await runPlugLater(script, { properties: { script: 'for (;;);' } })
      expect(ran.rawData?.['error']).toContain('too many steps')
    } finally {
      performance.now = now
    }
    // about one call per 600 ms of the available second; without a clock there would be none
    expect(later / 600).toBeGreaterThan(1)
    expect(later / 600).toBeLessThan(6)
  })

  it('are offline, so that a simulation makes no calls', async () => {
    const callURL = (await loadPlugs([])).find(({ name }) => name === 'callURL')
    if (callURL === undefined) throw new Error('no callURL')
    const ran = await runPlugLater(callURL, { properties: { method: 'GET', url: 'http://127.0.0.1/' } })
    expect(ran.rawData?.['error']).toContain('offline')
  })
})
