/** What a service would refuse at work is refused when the rule is saved, at the property's place. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { definePlug } from '../../src/core/plug/define.ts'
import { createApp } from '../../src/host/app.ts'
import { compose } from '../../src/host/compose.ts'
import { readConfig } from '../../src/host/config.ts'
import { makeRulesWith } from '../../src/host/wiring/make-rules.ts'
import type { ServiceDependencies } from '../../src/host/wiring/service-dependencies.ts'
import { basic } from './sample-host.ts'
import { wholeHost } from './whole-host.ts'

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

describe('a rule that a service would refuse at work', () => {
  it('is refused as template and as task, with the place', async () => {
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
  it('goes on after a restart when what checks it has become stricter', async () => {
    const data = mkdtempSync(join(tmpdir(), 'reflexarc-checked-'))
    let isStrict = false
    const siren = definePlug({
      name: 'siren',
      version: '1.0.0',
      kind: 'actuator',
      check: () => (isStrict ? [{ property: '', message: 'is too loud' }] : []),
      execute: () => ({ message: 'wailing' }),
    })
    const started = async (): Promise<FastifyInstance> => {
      const config = readConfig({ data, only: 'rules', empty: true, key: 'a', secret: 's' }, {}, ['rules'])
      const services = new Map([['rules', (parts: ServiceDependencies) => makeRulesWith([siren], parts)]])
      const composed = await compose(config, { services, hashCost: 2 })
      if (!isStrict) await composed.keyPairs.add({ key: 'a', secret: 's', tenant: 'acme' })
      return createApp({ ...composed, log: { level: 'silent', stream: { write: () => {} } } })
    }
    const headers = { authorization: basic('a', 's') }
    const task = { name: 't', type: 'reactive', resource: 'boiler-1' }
    const payload = { ...ruleOf('siren', {}), task }
    const before = await started()
    const made = await before.inject({ method: 'POST', url: '/api/tasks', headers, payload })
    expect(made.statusCode, made.body).toBe(201)
    await before.close()
    isStrict = true
    const after = await started()
    const { ID } = made.json<{ ID: string }>()
    expect((await after.inject({ url: `/api/tasks/${ID}`, headers })).json()).toMatchObject({ status: 'running' })
    const again = await after.inject({ method: 'POST', url: '/api/tasks', headers, payload })
    expect([again.statusCode, again.body]).toEqual([400, expect.stringContaining('is too loud')])
    await after.close()
    rmSync(data, { recursive: true, force: true })
  })
})
