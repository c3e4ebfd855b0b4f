import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { root } from '../support/repository.ts'
import { cli, Workspace } from './run-cli.ts'

const good = {
  sensors: [{ label: 'a', name: 'stream', resource: '$' }],
  actuators: [{ label: 'b', name: 'log', properties: { message: 'x' } }],
  triggers: [{ sourceLabel: 'a', destinationLabel: 'b' }],
  task: { type: 'reactive' },
}
const bad = {
  sensors: [{ label: 'a', name: 'strem', resource: '$' }],
  actuators: [{ label: 'b', name: 'log', properties: { message: 'x' } }],
  triggers: [{ sourceLabel: 'c', destinationLabel: 'b' }],
  task: { type: 'reactive' },
  sensor: [],
}

describe('check', () => {
  it('finds all rules of the repository to be good', async () => {
    const names = readdirSync(join(root, 'fixtures/rules')).map((name) => `fixtures/rules/${name}`)
    const { code, stdout, stderr } = await cli(['check', ...names])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.split('\n')).toContain(
      'fixtures/rules/overheating.json: ok (2 sensors, 1 relation, 2 triggers, 2 actuators)',
    )
    expect(stdout.trimEnd().split('\n')).toHaveLength(names.length)
  })

  it('prints every problem of every file at once, errors first, and a verdict per file', async () => {
    using space = new Workspace({ 'good.json': good, 'bad.json': bad })
    const { code, stdout, stderr } = await space.cli(['check', 'good.json', 'bad.json'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toBe('good.json: ok (1 sensor, 0 relations, 1 trigger, 1 actuator)')
    expect(lines[1]).toMatch(/^ERROR {3}bad\.json: \/sensors\/0\/name: .*"strem"; did you mean "stream"\?$/)
    expect(lines[2]).toMatch(/^ERROR {3}bad\.json: \/triggers\/0\/sourceLabel: .*"c"; .+$/)
    expect(lines.find((line) => line.startsWith('WARNING'))).toMatch(
      /^WARNING bad\.json: \/sensor: .*"sensor".*; .*"sensors"/,
    )
    expect(lines.at(-1)).toMatch(/^bad\.json: 2 errors, \d warnings?$/)
  })

  it('ends with 0 when there are only warnings', async () => {
    using space = new Workspace({ 'rule.json': { ...good, comment: 1 } })
    const { code, stdout } = await space.cli(['check', 'rule.json'])
    expect(code).toBe(0)
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      'rule.json: ok, 1 warning (1 sensor, 0 relations, 1 trigger, 1 actuator)',
    )
  })

  it('takes a property that its plug does not declare for an error when it is strict', async () => {
    const sensors = [{ label: 'a', name: 'dice', resource: '$', properties: { faces: 6 } }]
    using space = new Workspace({ 'rule.json': { ...good, sensors, comment: 1 } })
    expect(await space.cli(['check', 'rule.json'])).toMatchObject({ code: 0 })
    const { code, stdout } = await space.cli(['check', '--strict', 'rule.json'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^ERROR {3}rule\.json: \/sensors\/0\/properties\/faces: .*dice has no property "faces"/)
    expect(stdout).toMatch(/^WARNING rule\.json: \/comment: /m)
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('rule.json: 1 error, 1 warning')
  })

  it('notes which version runs for one that does not exist', async () => {
    const sensors = [{ label: 'a', name: 'stream', version: '1.0.1', resource: '$' }]
    using space = new Workspace({ 'rule.json': { ...good, sensors, comment: 1 } })
    const { code, stdout } = await space.cli(['check', 'rule.json'])
    expect(code).toBe(0)
    expect(stdout.split('\n')[1]).toMatch(
      /^INFO {4}rule\.json: \/sensors\/0\/version: .*1\.0\.0 runs instead of 1\.0\.1, .*$/,
    )
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^rule\.json: ok, 1 warning, 1 note \(/)
  })

  it('reads standard input', async () => {
    expect(await cli(['check', '-'], { input: JSON.stringify(good) })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^stdin: ok/) as unknown,
    })
  })

  it('shows where a text stops being JSON', async () => {
    using space = new Workspace({ 'rule.json': '{\n  "sensors": [],\n}\n' })
    expect(await space.cli(['check', 'rule.json'])).toEqual({
      code: 1,
      stdout: [
        'ERROR   rule.json:2:16: unexpected comma before the closing }; remove the trailing comma',
        '    "sensors": [],',
        '                 ^',
        'rule.json: 1 error',
        '',
      ].join('\n'),
      stderr: '',
    })
  })

  it('goes on with the other files when one cannot be read', async () => {
    using space = new Workspace({ 'good.json': good })
    const { code, stdout } = await space.cli(['check', 'none.json', 'good.json'])
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^ERROR {3}none\.json: cannot be read: the file does not exist\nnone\.json: 1 error\ngood\.json: ok/,
    )
  })

  it('knows the plugs of --plugs, by name, as default and in lists', async () => {
    const plug = pathToFileURL(join(root, 'src/plug.ts')).href
    using space = new Workspace({
      'own.mjs': [
        `import { definePlug } from '${plug}'`,
        `const make = (name) => definePlug({ name, version: '1.0.0', kind: 'sensor', states: ['on'], execute: () => 'on' })`,
        `export const one = make('one')`,
        `export default make('two')`,
        `export const more = [make('three')]`,
      ].join('\n'),
      'rule.json': {
        ...good,
        sensors: ['one', 'two', 'three'].map((name, i) => ({ label: 'abc'[i], name, resource: '$' })),
        triggers: [{ sourceLabel: 'a', destinationLabel: 'd' }],
        actuators: [{ label: 'd', name: 'log', properties: { message: 'x' } }],
      },
      'empty.mjs': 'export const nothing = 1',
      'broken.mjs': 'export const = 1',
    })
    expect(await space.cli(['check', 'rule.json', '--plugs', 'own.mjs'])).toMatchObject({ code: 0 })
    expect(await space.cli(['check', 'rule.json', '--plugs', 'empty.mjs'])).toMatchObject({
      code: 1,
      stderr: 'error: empty.mjs: its exports (nothing) lack a plug; export the result of definePlug\n',
    })
    expect(await space.cli(['check', 'rule.json', '--plugs', 'broken.mjs'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: broken\.mjs: the module cannot be loaded: [^\n]+\n$/) as unknown,
    })
    expect(await space.cli(['check', 'rule.json', '--plugs', 'none.mjs'])).toMatchObject({
      code: 1,
      stderr: 'error: none.mjs: the file does not exist; --plugs takes an ES module or a folder of such modules\n',
    })
  })
})
