/** The whole host: tasks come and go with resources and their types, also when it is killed with -9 in the middle. */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { cases } from '../support/arbitraries/runs.ts'
import { root } from '../support/repository.ts'
import { basic } from './sample-host.ts'

const RESOURCES = cases(100)

const folder = mkdtempSync(join(tmpdir(), 'reflexarc-managed-'))
const children = new Set<ChildProcessByStdio<null, Readable, null>>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** One process, from its start to its death. */
class Process {
  readonly #url: string
  readonly #child: ChildProcessByStdio<null, Readable, null>
  readonly #gone: Promise<unknown>

  private constructor(url: string, child: ChildProcessByStdio<null, Readable, null>, gone: Promise<unknown>) {
    this.#url = url
    this.#child = child
    this.#gone = gone
  }

  static async start(): Promise<Process> {
    const args = [
      'serve',
      '--port',
      '0',
      '--data',
      folder,
      '--key',
      'k',
      '--secret',
      's',
      '--rate-limit',
      '0',
      '--empty',
    ]
    const child = spawn(process.execPath, [join(root, 'src/host/cli.ts'), ...args, '--log-level', 'silent'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.add(child)
    const gone = once(child, 'close').then(() => children.delete(child))
    child.stdout.setEncoding('utf8')
    for (let text = ''; ;) {
      const [more] = (await Promise.race([once(child.stdout, 'data'), gone.then(() => [])])) as unknown[]
      if (typeof more !== 'string') throw new Error(`the host ended by itself: ${text}`)
      text += more
      const url = /listening on (\S+)\n/.exec(text)?.[1]
      if (url !== undefined) return new Process(url, child, gone)
    }
  }

  async ask(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        authorization: basic('k', 's'),
        accept: 'application/vnd.service.paged+json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }

  async done(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await this.ask(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer.body
  }

  /** how many tasks a query selects */
  async tasks(query: string): Promise<number> {
    const page = (await this.done('GET', `/api/tasks?hits=1&${query}`)) as { readonly total: number }
    return page.total
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#gone
  }
}

async function forAll(work: (id: string, n: number) => Promise<unknown>): Promise<void> {
  const waiting = Array.from({ length: RESOURCES }, (_, n) => n)
  const one = async (): Promise<void> => {
    for (let n = waiting.shift(); n !== undefined; n = waiting.shift()) await work(`pump-${n}`, n)
  }
  await Promise.all(Array.from({ length: 32 }, one))
}

const TEMPLATE = {
  name: 'too-hot',
  sensors: [
    {
      label: 'hot',
      name: 'inRange',
      resource: '$',
      properties: { value: '${streamdata.temperature}', lowerLimit: 0, upperLimit: 90 },
    },
  ],
  actuators: [
    { label: 'mark', name: 'updateMetadata', properties: { resource: '${task.RESOURCE}', metadata: { hot: true } } },
  ],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'mark', statesTrigger: ['Above'] }],
}

// Holds RESOURCE-3
describe('managed tasks in the host', () => {
  it('of many resources come with the link to a type, fire on their own data, and go with it', async () => {
    let host = await Process.start()
    await host.done('POST', '/api/templates', TEMPLATE)
    await host.done('POST', '/api/resourcetypes', {
      id: 'pump',
      templates: [{ templateName: 'too-hot', type: 'reactive' }],
    })
    await forAll((id) => host.done('POST', '/api/resources', { id }))
    await forAll((id) => host.done('PATCH', `/api/resources/${id}`, { resourceTypeId: 'pump' }))
    await expect.poll(() => host.tasks('status=running')).toBe(RESOURCES)

    await forAll((id, n) => host.done('POST', `/resources/${id}/events`, { temperature: n % 2 === 0 ? 95 : 20 }))
    const isHot = async (id: string) =>
      ((await host.done('GET', `/api/resources/${id}`)) as { hot?: boolean }).hot === true
    await forAll((id, n) => expect.poll(() => isHot(id)).toBe(n % 2 === 0))

    // killed while half of them leave and a template comes
    const other = { ...TEMPLATE, name: 'second' }
    await host.done('POST', '/api/templates', other)
    const templates = [
      { templateName: 'too-hot', type: 'reactive' },
      { templateName: 'second', type: 'reactive' },
    ]
    await host.done('PATCH', '/api/resourcetypes/pump', { templates })
    await forAll((id, n) =>
      n < RESOURCES / 2 ? host.done('PATCH', `/api/resources/${id}`, { resourceTypeId: null }) : Promise.resolve(),
    )
    await host.kill()
    host = await Process.start()
    await expect.poll(() => host.tasks('template=too-hot')).toBe(RESOURCES / 2)
    await expect.poll(() => host.tasks('template=second')).toBe(RESOURCES / 2)
    expect(await host.tasks('resource=pump-0')).toBe(0)
    expect(await host.tasks(`resource=pump-${RESOURCES - 1}`)).toBe(2)

    await forAll((id, n) => (n >= RESOURCES / 2 ? host.done('DELETE', `/api/resources/${id}`) : Promise.resolve()))
    await expect.poll(() => host.tasks('')).toBe(0)
    await host.kill()
  })
})
