import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { type Manifest, PlugManifestSchema, readManifest } from '../../../src/services/functions/manifest-schema.ts'

const GOOD = { name: 'p', version: '1.2.3', type: 'sensor', runtime: 'plug-node24', interface: { states: ['A'] } }

function read(value: unknown): Manifest {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return readManifest('plugs', value === undefined ? undefined : new TextEncoder().encode(text))
}

it('is parsed as written', () => {
  expect(read(GOOD)).toEqual(GOOD)
})

it('may declare memory and CPU time of its processes', () => {
  const limited = { ...GOOD, deploy: { limits: { memory: '64Mi', cpu: '150m' }, requests: { cpu: '0.5' } } }
  expect(read(limited)).toEqual(limited)
})

it.each<[string, object]>([
  ['names a schema for editors', { $schema: 'waylay:/registry/v2/schemas/plugs-manifest-01' }],
  ['has a property of any type', { interface: { input: [{ name: 'x', dataType: 'any' }] } }],
  [
    'has documentation that tools wrote with members of their own',
    { metadata: { documentation: { input: [{ name: 'id', 'description:': 'of the request' }] } } },
  ],
])('is accepted when it %s', (_, more) => {
  expect(read({ ...GOOD, ...more })).toEqual({ ...GOOD, ...more })
})

describe('problems of a manifest', () => {
  it.each<[string, unknown, RegExp]>([
    ['that is missing', undefined, /no plug\.json/],
    ['that is not JSON', '{', /is not JSON/],
    ['that is a list', [], /must be object/],
    ['that is null', 'null', /must be object/],
    ['with a half version', { ...GOOD, version: '1.2' }, /\/version.*not major\.minor\.patch/],
    ['with states of an actuator', { ...GOOD, type: 'actuator' }, /an actuator has no states/],
    ['with a state twice', { ...GOOD, interface: { states: ['A', 'A'] } }, /"A" occurs twice/],
    ['with a property twice', { ...GOOD, interface: { input: [{ name: 'x' }, { name: 'x' }] } }, /"x" occurs twice/],
    [
      'with a secret that is an environment variable too',
      { ...GOOD, deploy: { envVars: { A: 'x' }, secrets: ['A'] } },
      /"A" is also in envVars/,
    ],
    ['with a bad range', { ...GOOD, runtimeVersion: 'new' }, /not a range/],
  ])('%s is reported', (_, value, problem) => {
    expect(() => read(value)).toThrow(problem)
  })

  it('reports all problems at once', () => {
    expect(() => read({ ...GOOD, name: 7, type: 'x' })).toThrow(/\/name.*\/type/)
  })
})

it('has a schema that another validator interprets equally', () => {
  const check = new Ajv({ strict: false }).compile(PlugManifestSchema)
  expect([check(GOOD), check({ ...GOOD, more: 1 }), check({ ...GOOD, type: 'x' })]).toEqual([true, false, false])
})
