/** Tests options of `simulate`, `diff` and `sweep` with `--stored` on a host that listens. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli } from '../cli/run-cli.ts'
import { testFolder } from '../support/test-folder.ts'
import { listeningHost, type ListeningHost } from './listening-host.ts'

const ruleAbove = (threshold: number) => ({
  sensors: [{ label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold } }],
  actuators: [{ label: 'note', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'note', begins: ['Above'] }],
})

const folder = testFolder()
const fileOf = (threshold: number): string => {
  const path = join(folder, `${threshold}.json`)
  writeFileSync(path, JSON.stringify(ruleAbove(threshold)))
  return path
}
const [low, high] = [fileOf(50), fileOf(90)]

let host: ListeningHost
beforeAll(async () => {
  host = await listeningHost()
  const now = Date.now()
  // the second and third reading are late
  for (const [t, age] of [
    [60, 10],
    [60, 30],
    [20, 20],
  ] as const)
    await host.client.broker.posting.events('boiler', { t, timestamp: now - age * 1_000 })
})
afterAll(() => host.stop())

function stored(...args: readonly string[]) {
  const { key, secret } = host.credentials
  return cli([...args, '--stored', '--resource', 'boiler', '--url', host.url, '--key', key, '--secret', secret])
}

describe('a rehearsal on stored data', () => {
  it('ends with 2 for --exit-code if the rules differ, and with 0 if they do not', async () => {
    const differing = await stored('diff', low, high, '--from', '-1d', '--exit-code')
    expect(differing.stdout).toContain('0 equal, 0 added, 1 removed, 0 moved')
    expect(differing.code).toBe(2)
    expect((await stored('diff', low, low, '--from', '-1d', '--exit-code')).code).toBe(0)
    expect((await stored('diff', low, high, '--from', '-1d')).code).toBe(0)
  })

  it.each([
    ['lived', 1],
    ['time', 2],
  ])('takes late readings in the order of --order %s', async (order, firings) => {
    const { stdout } = await stored('simulate', low, '--from', '-1d', '--order', order, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ status: 'done', counts: { firings } })
  })

  it.each([
    [
      'simulate',
      [low, '--down', '2026-01-01..2026-01-02', '--why'],
      '--down, --why: not available with --stored; omit them',
    ],
    [
      'simulate',
      [low, '--model', 'm=x.json', '--latency', 'log=1s'],
      '--latency, --model: not available with --stored; omit them',
    ],
    ['diff', [low, high, '--tolerance', '5m', '--all'], '--tolerance, --all: not available with --stored; omit them'],
    [
      'sweep',
      [low, '--set', 'hot.threshold=50,60', '--plugs', './plugs.ts'],
      '--plugs: not available with --stored; omit it',
    ],
  ] as const)('of %s rejects options that it would ignore', async (command, args, problem) => {
    const { code, stderr } = await stored(command, ...args)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `error: ${problem}, or run over a file with --messages\n`,
    })
  })

  it('rejects the order of a file', async () => {
    const { stderr } = await stored('simulate', low, '--order', 'file')
    expect(stderr).toBe('error: --order: "file" does not apply to stored data; use lived or time\n')
  })
})
