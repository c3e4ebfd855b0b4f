/** The whole host from seeds: what was found once stays mended, and some new runs find nothing. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run } from '../support/run-command.ts'
import { root } from '../support/repository.ts'

/** as many as take some twenty seconds; `npm run simulate:host` does more */
const SEEDS = 30

const simulate = (...args: readonly string[]) => run(process.execPath, ['test/simulator/main.ts', ...args], root)

describe('a simulated host', () => {
  it('finds nothing in the cases in which it found something once', () => {
    const { code, stdout, stderr } = simulate('--case', join('fixtures', 'simulator'))
    expect([code, stderr], stdout).toEqual([0, ''])
    expect(stdout).toMatch(/^[1-9]\d* runs, 0 with findings/m)
  })

  it('finds nothing in runs from seeds', () => {
    const { code, stdout, stderr } = simulate('--seeds', String(SEEDS))
    expect([code, stderr], stdout).toEqual([0, ''])
  })

  it('does the same twice, byte for byte', () => {
    const { code, stdout, stderr } = simulate('--from', '900', '--seeds', '5', '--twice')
    expect([code, stderr], stdout).toEqual([0, ''])
  })
})
