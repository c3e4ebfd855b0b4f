/** Simulates the whole host from seeds: earlier findings must stay fixed, and some new runs must find nothing. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cases, some } from '../support/arbitraries/runs.ts'
import { run } from '../support/run-command.ts'
import { root } from '../support/repository.ts'

/** seeds per test */
const SEEDS = cases(200)
/** `npm run simulate:host` runs more */
const FIRST_SEEDS = some([1, 201, 401])

const simulate = (...args: readonly string[]) => run(process.execPath, ['test/simulator/main.ts', ...args], root)

describe('a simulated host', () => {
  it('finds nothing in the cases in which it found something once', () => {
    const { code, stdout, stderr } = simulate('--case', join('fixtures', 'simulator'))
    expect([code, stderr], stdout).toEqual([0, ''])
    expect(stdout).toMatch(/^[1-9]\d* runs, 0 with findings/m)
  })

  it.each(FIRST_SEEDS)('finds nothing in runs from seed %d on', (from) => {
    const { code, stdout, stderr } = simulate('--from', String(from), '--seeds', String(SEEDS), '--workers', '2')
    expect([code, stderr], stdout).toEqual([0, ''])
    expect(stdout).toMatch(new RegExp(`^${SEEDS} runs, 0 with findings`, 'm'))
  })

  it('does the same twice, byte for byte', () => {
    const { code, stdout, stderr } = simulate('--from', '900', '--seeds', '5', '--twice')
    expect([code, stderr], stdout).toEqual([0, ''])
  })

  it('goes on where a call was killed, and does again what that had not finished', () => {
    const folder = mkdtempSync(join(tmpdir(), 'reflexarc-simulator-'))
    try {
      const report = join(folder, 'report.json')
      const all = ['--seeds', '4', '--only', 'alarms', '--report', report]
      const whole = simulate(...all)
      expect([whole.code, whole.stderr], whole.stdout).toEqual([0, ''])
      const done = JSON.parse(readFileSync(report, 'utf8')) as { met: object }
      // the report as it is when a process is killed while running seeds 3 and 4
      writeFileSync(report, JSON.stringify({ ...done, next: 5, open: [{ from: 3, count: 2 }] }))
      const again = simulate(...all)
      expect([again.code, again.stderr], again.stdout).toEqual([0, ''])
      expect(again.stdout).toMatch(/^6 runs, 0 with findings/m)
      expect(simulate(...all).stdout).toMatch(/^6 runs, 0 with findings/m)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
