/** The whole host: tasks come and go with resources and their types, also when it is killed with -9 in the middle. */
import { describe, expect, it } from 'vitest'
import { cases } from '../support/arbitraries/runs.ts'
import { crashingHosts, type HostProcess } from './host-process.ts'

const RESOURCES = cases(100)

const hosts = crashingHosts()

/** A host that is asked for resources and tasks; an answer that is none fails. */
class Managing {
  readonly #host: HostProcess

  private constructor(host: HostProcess) {
    this.#host = host
  }

  static async start(): Promise<Managing> {
    return new Managing(await hosts.start())
  }

  async done(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(this.#host.url + path, {
      method,
      headers: {
        ...this.#host.headers,
        accept: 'application/vnd.service.paged+json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  }

  /** how many tasks a query selects */
  async tasks(query: string): Promise<number> {
    const page = (await this.done('GET', `/api/tasks?hits=1&${query}`)) as { readonly total: number }
    return page.total
  }

  async kill(): Promise<void> {
    await this.#host.kill()
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
    let host = await Managing.start()
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
    host = await Managing.start()
    await expect.poll(() => host.tasks('template=too-hot')).toBe(RESOURCES / 2)
    await expect.poll(() => host.tasks('template=second')).toBe(RESOURCES / 2)
    expect(await host.tasks('resource=pump-0')).toBe(0)
    expect(await host.tasks(`resource=pump-${RESOURCES - 1}`)).toBe(2)

    await forAll((id, n) => (n >= RESOURCES / 2 ? host.done('DELETE', `/api/resources/${id}`) : Promise.resolve()))
    await expect.poll(() => host.tasks('')).toBe(0)
    await host.kill()
  })
})
