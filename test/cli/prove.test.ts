import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cli, Workspace } from './run-cli.ts'

const rule = {
  sensors: [
    { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
  ],
  actuators: [{ label: 'alarm', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'], invocationPolicy: 600 }],
  task: { resource: 'boiler' },
}
const properties = (limit: number) => `
export default ({ always, fires, implies, neverMoreThan, reads, readings }) => ({
  properties: [
    always(implies(fires('alarm'), reads('t', (value) => value > ${limit}, { as: 'above ${limit}' }))),
    neverMoreThan(1, { within: '10m', node: 'alarm' }),
  ],
  options: { metrics: { t: readings(60, 120) } },
})
`
const FILES = {
  'rule.json': rule,
  'good.mjs': properties(90),
  'bad.mjs': properties(95),
  'none.mjs': 'export const a = 1',
}
/** The first case of this seed already fails, however slow the machine is. */
const BRIEFLY = ['--time', '10ms', '--seed', '1']

describe('reflexarc prove', () => {
  it('reports how much was tried when all holds, at random and in full', async () => {
    using files = new Workspace(FILES)
    const { code, stdout } = await files.cli(['prove', 'rule.json', '--props', 'good.mjs', ...BRIEFLY, '--length', '2'])
    expect(stdout).toMatch(/^holds: always alarm fires means that t is above 90$/m)
    expect(stdout).toMatch(/^tried: \d+ cases, \d+ messages in /m)
    expect(stdout).toMatch(/^for all sequences of up to \d messages: \d+ states, \d+ steps of \d+ inputs, in /m)
    expect(code).toBe(0)
  })

  it('ends with 2 at a property that does not hold, keeps the case, and tries it first', async () => {
    using files = new Workspace(FILES)
    const args = ['prove', 'rule.json', '--props', 'bad.mjs', '--time', '60s', '--seed', '1', '--save', 'kept']
    const first = await files.cli(args)
    expect(first.stdout).toMatch(/^"always alarm fires means that t is above 95" does not hold/)
    const [name] = readdirSync(join(files.path, 'kept'))
    expect(first.stdout).toContain(`stored as ${join('kept', name ?? '')}`)
    expect(first.code).toBe(2)
    const again = await files.cli(args)
    expect(again.stdout).toContain(`${join('kept', name ?? '')}: "always alarm`)
    expect(again.code).toBe(2)
    expect(readdirSync(join(files.path, 'kept'))).toEqual([name])
    const mended = await files.cli(['prove', 'rule.json', '--props', 'good.mjs', ...BRIEFLY, '--save', 'kept'])
    expect(mended.stdout).toMatch(/^1 saved cases hold$/m)
  })

  it('prints one JSON object for programs', async () => {
    using files = new Workspace(FILES)
    const good = await files.cli(['prove', 'rule.json', '--props', 'good.mjs', ...BRIEFLY, '--json'])
    expect(JSON.parse(good.stdout)).toMatchObject({
      holds: true,
      saved: 0,
      report: { cases: expect.any(Number) as number },
    })
    const bad = await files.cli(['prove', 'rule.json', '--props', 'bad.mjs', '--json', '--time', '60s'])
    expect(JSON.parse(bad.stdout)).toMatchObject({ holds: false, failing: { messages: [{ resource: 'boiler' }] } })
    expect(bad.code).toBe(2)
  })
})

describe('reflexarc mutate', () => {
  it('reports how many changes of the example rule its properties notice', async () => {
    const files = ['fixtures/rules/overheating.json', '--test', 'fixtures/properties/overheating.mjs']
    const { code, stdout } = await cli(['mutate', ...files, '--cases', '25', '--least', '90'])
    expect(stdout).toMatch(/^killed 5[0-4] of 54 mutants$/m)
    expect(code).toBe(0)
  })

  it('shows what a weak test leaves, and ends with 2 below what is asked for', async () => {
    using files = new Workspace(FILES)
    const weak =
      "export default ({ neverMoreThan, readings }) => ({ properties: [neverMoreThan(1, { within: '10m' })], options: { metrics: { t: readings(60, 120) } } })"
    using others = new Workspace({ ...FILES, 'weak.mjs': weak })
    const { code, stdout } = await others.cli('mutate rule.json --test weak.mjs --cases 10 --least 90')
    expect(stdout).toContain('survived: sensors/hot/properties/threshold: 90 -> 91')
    expect(code).toBe(2)
    const json = await files.cli(['mutate', 'rule.json', '--test', 'good.mjs', '--cases', '10', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({
      killed: expect.any(Array) as unknown,
      survived: expect.any(Array) as unknown,
    })
  })
})
