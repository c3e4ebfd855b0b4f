/** Tests that values a service would reject at run time are rejected when the rule is saved, at the property's path. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { definePlug } from '../../src/core/plug/define.ts'
import { wholeHost } from './whole-host.ts'
import { testFolder } from '../support/test-folder.ts'

function ruleOf(name: string, properties: object) {
  return {
    sensors: [{ label: 'any', name: 'stream', resource: '$' }],
    actuators: [{ label: 'act', name, properties }],
    triggers: [{ sourceLabel: 'any', destinationLabel: 'act', statesTrigger: ['Data'] }],
  }
}

const WRONG = [
  [
    'createAlarm',
    { type: 'HEAT', properties: { escalation: { after: 'PT1H', severity: 'WORST' } } },
    'properties',
    '/escalation/severity: Could not parse severity',
  ],
  ['createAlarm', { type: 'x'.repeat(501) }, 'type', 'has 501 characters'],
  ['storeMessage', { payload: { timestamp: 'soon' } }, 'payload', '/timestamp: "soon" is not a valid time'],
  ['forwardMessage', { payload: { timestamp: 'soon' } }, 'payload', '/timestamp: "soon" is not a valid time'],
  ['executeCommand', { command: '' }, 'command', 'must be the name of a command'],
  ['executeCommand', { command: 'on', properties: { timestamp: 'soon' } }, 'properties', '/timestamp'],
  ['updateMetadata', { metadata: { tags: 7 } }, 'metadata', '/tags'],
] as const

const RIGHT = [
  ['createAlarm', { type: 'HEAT', properties: { escalation: { after: 'PT1H', severity: 'CRITICAL' } } }],
  ['createAlarm', { type: 'HEAT', properties: { escalation: { after: 'PT1H', severity: '${nodes.any.rawData.s}' } } }],
  ['storeMessage', { payload: { t: 1 } }],
  ['executeCommand', { command: 'on' }],
  ['updateMetadata', { metadata: { tags: ['a'], floor: null } }],
] as const

describe('a rule that a service would reject running', () => {
  it('is rejected as template and as task, with the place', async () => {
    await using host = await wholeHost({ empty: true })
    const post = (url: string, payload: object) => host.send('POST', url, payload)
    for (const [name, properties, property, text] of WRONG) {
      const rule = ruleOf(name, properties)
      const task = { name: 't', type: 'reactive', resource: 'boiler-1' }
      for (const [url, body] of [
        ['/api/templates', { name: `no-${name}`, ...rule }],
        ['/api/tasks', { ...rule, task }],
      ] as const) {
        const answer = await post(url, body)
        expect([url, name, answer.statusCode]).toEqual([url, name, 400])
        expect(answer.body).toContain(`/actuators/0/properties/${property}`)
        expect(answer.body).toContain(JSON.stringify(text).slice(1, -1))
      }
    }
    for (const [i, [name, properties]] of RIGHT.entries()) {
      const answer = await post('/api/templates', { name: `${name}-${i}`, ...ruleOf(name, properties) })
      expect([name, answer.statusCode]).toEqual([name, 201])
    }
  })
})

describe('a task that was saved', () => {
  it('continues after a restart when what checks it has become stricter', async () => {
    const data = testFolder(onTestFinished)
    let isStrict = false
    const siren = definePlug({
      name: 'siren',
      version: '1.0.0',
      kind: 'actuator',
      check: () => (isStrict ? [{ property: '', message: 'is too loud' }] : []),
      execute: () => ({ message: 'wailing' }),
    })
    const started = () => wholeHost({ data, only: 'rules', empty: true }, { plugs: () => [siren] })
    const rule = { ...ruleOf('siren', {}), task: { name: 't', type: 'reactive', resource: 'boiler-1' } }
    const before = await started()
    const { ID } = await before.done<{ ID: string }>('POST', '/api/tasks', rule)
    await before.app.close()
    isStrict = true
    const after = await started()
    expect(await after.done('GET', `/api/tasks/${ID}`)).toMatchObject({ status: 'running' })
    const again = await after.send('POST', '/api/tasks', rule)
    expect([again.statusCode, again.body]).toEqual([400, expect.stringContaining('is too loud')])
    await after.app.close()
  })
})
