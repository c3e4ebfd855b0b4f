/** Tests secrets in a whole host: stored over HTTP and available to plugs, webscripts and rules, but never returned. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { manifestOf, nodePlug, PLUGS, tarOf } from './function-host.ts'
import { wholeHost, type WholeHost } from './whole-host.ts'

const SECRETS = '/vault/v1/secrets'
const VALUE = 'sesame-7411'

let host: WholeHost
beforeAll(async () => {
  host = await wholeHost()
})
afterAll(() => host[Symbol.asyncDispose]())

const put = (name: string, value: string) => host.ask('PUT', `${SECRETS}/${name}`, { value })
const version = (name: string) => host.ask('GET', `${PLUGS}/${name}/versions/1.0.0`)
const called = (name: string) => host.send('POST', `/api/sensors/${name}`, { properties: { value: 30 } })

/** Deploys a plug that answers with the length of its secret, and tries to leak the secret on request. */
async function deployed(name: string, secret: string, execute: string): Promise<void> {
  const more = { name, deploy: { secrets: [secret] } }
  const { 'index.js': code = '', ...others } = nodePlug('1.0.0', execute)
  const files = {
    ...others,
    'plug.json': manifestOf(more),
    'index.js': code.replace("name: 'warmth'", `name: '${name}'`),
  }
  await host.ask('POST', `${PLUGS}?async=false`, await tarOf(files))
}

// Holds VAULT-1
it('are set, listed and removed, and no response contains a value', async () => {
  const answers = [
    await host.send('PUT', `${SECRETS}/LISTED`, { value: VALUE }),
    await host.send('PUT', `${SECRETS}/LISTED`, { value: VALUE }),
    await host.send('GET', SECRETS),
    await host.send('PUT', `${SECRETS}/LISTED`, { value: VALUE, more: VALUE }),
    await host.send('PUT', `${SECRETS}/not-a-name`, { value: VALUE }),
    await host.send('GET', `${SECRETS}/LISTED`),
    await host.send('DELETE', `${SECRETS}/LISTED`, undefined, 'umbrella'),
    await host.send('DELETE', `${SECRETS}/LISTED`),
    await host.send('DELETE', `${SECRETS}/LISTED`),
  ]
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 200, 200, 400, 400, 405, 404, 204, 404])
  for (const { payload } of answers) expect(payload).not.toContain(VALUE)
})

describe('a plug whose manifest names a secret', () => {
  it('is not deployed without it, and has it when it is there, the newest one at once', async () => {
    const state = `({ state: 'Warm', rawData: { length: process.env.TOKEN.length } })`
    await deployed('lengths', 'TOKEN', state)
    expect((await version('lengths')).body).toMatchObject({
      entity: {
        status: 'failed',
        failureReason: { cause: 'the vault lacks the secret "TOKEN" of its manifest; store it first' },
      },
    })
    await put('TOKEN', VALUE)
    const rebuilt = await host.ask('POST', `${PLUGS}/lengths/versions/1.0.0/rebuild?async=false&ignoreChecks=true`)
    expect(rebuilt.body).toMatchObject({ entity: { status: 'running' } })
    expect((await called('lengths')).json()).toMatchObject({ rawData: { length: 11 } })
    await put('TOKEN', 'barley')
    expect((await called('lengths')).json()).toMatchObject({ rawData: { length: 6 } })
    const { body } = await host.ask('GET', `${PLUGS}/lengths/versions/1.0.0/log`)
    expect(body['lines']).toHaveLength(2)
    await host.send('DELETE', `${SECRETS}/TOKEN`)
    expect((await called('lengths')).payload).toContain('the secret \\"TOKEN\\"')
  })

  // Holds SANDPROC-5
  it('reports it in no log and no error', async () => {
    await put('LOUD', VALUE)
    await deployed(
      'loud',
      'LOUD',
      `(log.warn('by log ' + process.env.LOUD), console.log('by console ' + process.env.LOUD), null).x`,
    )
    const failed = await called('loud')
    expect(failed.payload).not.toContain(VALUE)
    const { payload } = await host.send('GET', `${PLUGS}/loud/versions/1.0.0/log`)
    expect(payload).toContain('by log ***')
    expect(payload).toContain('by console ***')
    expect(payload).not.toContain(VALUE)
    await deployed('thrower', 'LOUD', `(() => { throw new Error('with ' + process.env.LOUD) })()`)
    const thrown = (await called('thrower')).payload
    expect(thrown).toContain('with ***')
    expect(thrown).not.toContain(VALUE)
  })
})

it('a webscript in Python has it too', async () => {
  await put('PYTHON_TOKEN', VALUE)
  const manifest = { name: 'teller', version: '1.0.0', runtime: 'web-python3', private: false }
  const main = `import os
async def execute(request, client):
    return {"length": len(os.environ["PYTHON_TOKEN"])}
`
  const files = {
    'webscript.json': JSON.stringify({ ...manifest, deploy: { secrets: ['PYTHON_TOKEN'] } }),
    'main.py': main,
  }
  await host.ask('POST', '/registry/v2/webscripts?async=false', await tarOf(files))
  expect((await host.send('GET', '/api/v1/acme/teller')).json()).toEqual({ length: 11 })
})

describe('what a plug makes of ${vault.NAME}', () => {
  const TEXT = 'the word is ${vault.SPOKEN}'

  it('is stored and shown without the secret: logs, node results, deliveries', async () => {
    await put('SPOKEN', VALUE)
    const hot = { parameter: 'temperature', threshold: 20 }
    const rule = {
      sensors: [{ label: 'hot', name: 'streamingDataSensor', resource: '$', properties: hot }],
      actuators: [
        { label: 'tell', name: 'log', properties: { message: TEXT } },
        {
          label: 'call',
          name: 'callURL',
          properties: { method: 'GET', url: 'http://127.0.0.1:1/?key=${vault.SPOKEN}' },
        },
      ],
      triggers: ['tell', 'call'].map((destinationLabel) => {
        return { sourceLabel: 'hot', destinationLabel, statesTrigger: ['Above'] }
      }),
      task: { name: 'speaks', type: 'reactive', resource: 'r10' },
    }
    const { body: task } = await host.ask('POST', '/api/tasks', rule)
    const path = `/api/tasks/${String(task['ID'])}`
    await host.ask('POST', '/resources/r10/events', { temperature: 30 })
    expect(task).toHaveProperty('ID')
    const shown = async (url: string) => (await host.send('GET', url)).payload
    await expect.poll(() => shown(`/api/tasklogs?taskId=${String(task['ID'])}`)).toContain('the word is ***')
    await expect.poll(() => shown(`${path}/deliveries`)).toContain('call')
    for (const url of [
      path,
      `${path}/nodes/call`,
      `${path}/explain?node=tell`,
      `${path}/deliveries`,
      `${path}/nodes/tell`,
    ])
      expect(await shown(url), url).not.toContain(VALUE)
  })

  it('is nothing where a single plug is called, a graph is run or simulated', async () => {
    await put('SPOKEN', VALUE)
    const hot = { parameter: 'a', threshold: 0 }
    const rule = {
      sensors: [{ label: 'hot', name: 'streamingDataSensor', resource: '$', properties: hot }],
      actuators: [{ label: 'tell', name: 'log', properties: { message: TEXT } }],
      triggers: [{ sourceLabel: 'hot', destinationLabel: 'tell', statesTrigger: ['Above'] }],
    }
    const messages = [{ resource: 'r', a: 1, timestamp: '2026-01-01T00:00:00Z' }]
    const simulation = { rule, resource: 'r', messages, executeActuators: true }
    const answers = [
      await host.send('POST', '/api/actions/log', { properties: { message: TEXT } }),
      await host.send('POST', '/api/tasks/simulate', simulation),
    ]
    for (const { payload } of answers) {
      expect(payload).toContain('vault.SPOKEN can only be read by tasks')
      expect(payload).not.toContain(VALUE)
    }
  })
})

it('a rule has it where it writes ${vault.NAME}, and shows it nowhere', async () => {
  await put('WORD', VALUE)
  const declared = { states: ['Known'], input: [{ name: 'text', dataType: 'string' }] }
  const files = {
    'plug.json': manifestOf({ name: 'lengthOf', runtime: 'plug-python3', interface: declared }),
    'main.py': 'def execute(properties, *others):\n    return ("Known", {"length": len(properties["text"])})\n',
  }
  await host.ask('POST', `${PLUGS}?async=false`, await tarOf(files))
  const sensor = { label: 'word', name: 'lengthOf', resource: '$', properties: { text: '${vault.WORD}' } }
  const rule = { sensors: [sensor], task: { name: 'words', type: 'reactive', resource: 'r9' } }
  const { body: task } = await host.ask('POST', '/api/tasks', rule)
  await host.ask('POST', '/resources/r9/events', { temperature: 30 })
  const path = `/api/tasks/${String(task['ID'])}`
  const node = async () => (await host.ask('GET', `${path}/nodes/word`)).body
  await expect.poll(node).toMatchObject({ rawData: { length: 11 } })
  for (const url of [path, `${path}/nodes`, `${path}/explain?node=word`, '/metrics'])
    expect((await host.send('GET', url)).payload, url).not.toContain(VALUE)
})
