/**
 * Tests webscripts and rules: a hook that receives data, a rule that calls a webscript, and a webscript that answers a
 * rule's task.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/client.ts'
import { root } from '../support/repository.ts'
import { deployedWebscript, listeningHost, type ListeningHost } from './listening-host.ts'

let host: ListeningHost
let client: Client
beforeAll(async () => {
  host = await listeningHost()
  client = host.client
})
afterAll(() => host.stop())

const filesOf = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
const scriptOf = (name: string, code: string) => ({
  'webscript.json': JSON.stringify({ name, version: '1.0.0', runtime: 'web-node24' }),
  'package.json': '{"type":"module"}',
  'index.js': code,
})

describe('a webscript', () => {
  it('imports payloads of a gateway: converted, with their resource, and a rule raises an alarm', async () => {
    await client.converter.put('gateway', {
      type: 'velocity',
      template: `{"metrics":[#foreach($one in $payload.nodes){"resource":"$one.id","temperature":$one.t}#if($foreach.hasNext),#end#end]}`,
    })
    for (const id of ['boiler-1', 'boiler-2']) await client.resources.resources.create({ id })
    const alarm = { type: 'heat', text: 'hot', severity: 'MAJOR' }
    await client.rules.tasks.create({
      sensors: [
        {
          label: 'hot',
          name: 'streamingDataSensor',
          resource: '$',
          properties: { parameter: 'temperature', threshold: 90 },
        },
      ],
      actuators: [{ label: 'alarm', name: 'createAlarm', properties: alarm }],
      triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'] }],
      task: { name: 'heat', type: 'reactive', resource: 'boiler-2' },
    })
    const { secret } = await deployedWebscript(host, filesOf(join(root, 'fixtures/examples/gateway-hook')))
    const answer = await fetch(`${host.url}/api/v1/default/gatewayHook`, {
      method: 'POST',
      headers: { authorization: `hmac-sha256 ${secret}`, 'content-type': 'application/json', 'x-gateway': 'gw-7' },
      body: JSON.stringify({
        nodes: [
          { id: 'boiler-1', t: 20 },
          { id: 'boiler-2', t: 93 },
        ],
      }),
    })
    expect([answer.status, await answer.json()]).toEqual([202, { messages: 2 }])
    expect((await client.resources.resources.get('boiler-1')).value).toMatchObject({ lastGateway: 'gw-7' })
    expect(await client.broker.messages.current('boiler-2')).toMatchObject({ temperature: 93 })
    await expect.poll(() => client.alarms.list({ source: 'boiler-2' })).toMatchObject({ total: 1 })
    const { values } = await client.webscripts.log('gatewayHook', { kind: 'console' })
    expect(values).toMatchObject([{ level: 'info', message: '2 messages of gw-7' }])
  })

  it('is called by a rule, which continues with its answer, and pushes the state of another node', async () => {
    await deployedWebscript(
      host,
      scriptOf(
        'judge',
        `export default async (req, res) => {
  if (req.path === '/push') {
    await client.rules.inspection.push(req.body.task, 'seen', { state: 'True' })
    return res.sendStatus(200)
  }
  res.json({ verdict: req.body.level > 5 ? 'high' : 'low', asked: req.query.by })
}`,
      ),
    )
    const call = { name: 'judge', path: '/judge', query: { by: 'rule' }, body: { level: '${streamdata.level}' } }
    const { ID } = await client.rules.tasks.create({
      sensors: [
        { label: 'ask', name: 'callWebscript', resource: '$', properties: call },
        { label: 'seen', name: 'condition', properties: { condition: 'false' } },
      ],
      actuators: [
        {
          label: 'push',
          name: 'callWebscript',
          properties: { name: 'judge', path: '/push', body: { task: '${task.TASK_ID}' } },
        },
      ],
      triggers: [{ sourceLabel: 'ask', destinationLabel: 'push', statesTrigger: ['Success'] }],
      task: { name: 'judged', type: 'reactive', resource: 'pump-1' },
    })
    await client.broker.posting.events('pump-1', { level: 7 })
    await expect
      .poll(() => client.rules.inspection.node(ID, 'ask'))
      .toMatchObject({ rawData: { status: 200, data: { verdict: 'high', asked: 'rule' } } })
    await expect
      .poll(() => client.rules.inspection.node(ID, 'seen'))
      .toMatchObject({ mostLikelyState: { state: 'True', probability: 1 } })
  })

  it('that triggers its calling rule ends like any loop of rules, at the limit of hops', async () => {
    const again = `export default async (req, res) => {
  const n = req.body.n + 1
  const posted = await client.broker.posting.events('ring-1', { n }).then(() => 'posted', (error) => error.message)
  res.json({ n, posted })
}`
    await deployedWebscript(host, scriptOf('again', again))
    const { ID } = await client.rules.tasks.create({
      sensors: [
        { label: 'heard', name: 'stream', resource: '$' },
        { label: 'ask', name: 'callWebscript', properties: { name: 'again', body: { n: '${streamdata.n}' } } },
      ],
      triggers: [{ sourceLabel: 'heard', destinationLabel: 'ask', invocationPolicy: 0 }],
      task: { name: 'ring', type: 'reactive', resource: 'ring-1' },
    })
    await client.broker.posting.events('ring-1', { n: 0 })
    const answer = async () => (await client.rules.inspection.node(ID, 'ask')).rawData
    const refused = expect.stringContaining('rejected as a loop') as unknown
    await expect.poll(answer).toMatchObject({ data: { posted: refused } })
    expect(await client.broker.messages.current('ring-1')).toMatchObject({ n: 16 })
  })
})
