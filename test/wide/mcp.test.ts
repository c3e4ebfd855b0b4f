/**
 * Runs the tools of assistants as assistants do: the conformance suite of the protocol against a host, and the change of
 * a rule over the built command line.
 */
import { execFile } from 'node:child_process'
import { createServer, request as send, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listeningHost, type ListeningHost } from '../host/listening-host.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { builtCode } from '../support/built-code.ts'
import { fencedBlocks } from '../support/read-markdown.ts'
import { readText, root } from '../support/repository.ts'

/**
 * The other scenarios are of features that this server does not declare (prompts, resources, logging, completion,
 * sampling, elicitation, replay of events), or call tools of the suite's own example server.
 */
const SCENARIOS = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']
const TIMEOUT = 120_000

let host: ListeningHost
/** adds the credentials that the suite cannot send */
let forwarder: Server
let forwarded = ''

beforeAll(async () => {
  host = await listeningHost()
  const { hostname, port } = new URL(host.url)
  forwarder = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming
    const options = { hostname, port, method, path, headers: { ...headers, authorization: authorization() } }
    const onward = send(options, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => forwarder.listen(0, '127.0.0.1', resolve))
  forwarded = `http://127.0.0.1:${(forwarder.address() as AddressInfo).port}/mcp`
}, TIMEOUT)
afterAll(async () => {
  forwarder.close()
  await host.stop()
})

function authorization(): string {
  const { key, secret } = host.credentials
  return `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`
}

describe("the protocol's conformance suite", { timeout: TIMEOUT }, () => {
  it.each(SCENARIOS)('passes: %s', async (scenario) => {
    const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
    const args = [suite, 'server', '--url', forwarded, '--scenario', scenario]
    const outcome = await new Promise<{ failed: boolean; text: string }>((resolve) => {
      execFile(process.execPath, args, (error, stdout, stderr) =>
        resolve({ failed: error !== null, text: stdout + stderr }),
      )
    })
    expect(outcome).toEqual({ failed: false, text: expect.stringMatching(/Passed: [1-9]\d*\/\d+, 0 failed/) as string })
  })
})

const TEMPLATE = (threshold: number) => ({
  name: 'hot',
  sensors: [
    { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 'temperature', threshold } },
  ],
  actuators: [{ label: 'note', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'note', statesTrigger: ['Above'] }],
})

const TRANSPORTS: Readonly<Record<string, () => unknown>> = {
  'the command line': () =>
    new StdioClientTransport({
      command: process.execPath,
      args: [builtCode('cli.js'), 'mcp', '--url', host.url, '--key', host.credentials.key],
      env: { ...bareEnvironment, REFLEXARC_API_SECRET: host.credentials.secret },
    }),
  'the host': () =>
    new StreamableHTTPClientTransport(new URL(`${host.url}/mcp`), {
      requestInit: { headers: { authorization: authorization() } },
    }),
}

describe.each(Object.keys(TRANSPORTS))('an assistant over %s', (name) => {
  it(
    'moves a threshold: draft, rehearsal beside the published version, publication and roll-back',
    { timeout: TIMEOUT },
    async () => {
      const assistant = new Client({ name: 'test', version: '1' })
      await assistant.connect(TRANSPORTS[name]?.() as Transport)
      const call = async (tool: string, args: object) => {
        const { structuredContent, isError } = await assistant.callTool({ name: tool, arguments: { ...args } })
        expect(isError, JSON.stringify(structuredContent)).not.toBe(true)
        return structuredContent
      }
      const resource = `boiler-${name.length}`
      for (const temperature of [70, 92, 70, 97, 70]) await host.client.broker.posting.events(resource, { temperature })
      const template = `hot over ${name}`
      const propose = (threshold: number, note: string) =>
        call('propose_draft', {
          template: { ...TEMPLATE(threshold), name: template },
          note,
          source: { from: '-1h' },
          resources: [resource],
        })
      expect(await propose(90, 'first')).toMatchObject({ draft: { version: 1 }, published: null })
      await call('publish', { template, version: 1 })
      expect(await propose(95, 'fewer firings')).toMatchObject({
        draft: { version: 2 },
        rehearsal: { coverage: { messages: 5 }, comparison: { counts: { removed: 1, equal: 1 } } },
      })
      await call('publish', { template, version: 2 })
      // a roll-back is another draft
      expect(await propose(90, 'too few firings')).toMatchObject({ draft: { version: 3 }, published: 2 })
      await call('publish', { template, version: 3 })
      expect(await call('find_rules', { template })).toMatchObject({
        template: { version: 3, sensors: [{ properties: { threshold: 90 } }] },
      })
      await assistant.close()
    },
  )
})

it('the page about assistants shows what happens', { timeout: TIMEOUT }, async () => {
  const { key, secret } = host.credentials
  const blocks = fencedBlocks(readText('docs/how-to/assistants.md')).filter(({ language }) => language === 'sh')
  const printed = blocks.map(({ text }) => {
    const here = text
      .replaceAll('http://127.0.0.1:8080', host.url)
      .replaceAll('me:my-secret', `${key}:${secret}`)
      .replace(
        'REFLEXARC_API_KEY=me REFLEXARC_API_SECRET=my-secret',
        `REFLEXARC_API_KEY=${key} REFLEXARC_API_SECRET=${secret}`,
      )
      .replace(/^reflexarc mcp/m, `'${process.execPath}' '${builtCode('cli.js')}' mcp`)
    return runAsync('bash', ['-euo', 'pipefail', '-c', here])
  })
  const [listed, proposed] = await Promise.all(printed)
  expect(listed).toContain('createAlarm')
  expect(proposed).toBe('"draft":{"template":"Too hot","version":1,"note":"alarms of the new boiler"}\n')
  expect(await host.client.rules.templates.get('Too hot')).toMatchObject({ version: 1, draft: true })
})

/** The host is in this process, which must not block. */
function runAsync(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd: root }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${command} failed: ${stdout}${stderr}`))
    })
  })
}
