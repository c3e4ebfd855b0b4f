/** Tests the list of all calls of actuators of a tenant over HTTP, and the retry of a failed one. */
import { describe, expect, it } from 'vitest'
import { definePlug } from '../../src/index.ts'
import { wholeHost, type WholeHost } from './whole-host.ts'

interface Delivery {
  readonly id: string
  readonly task: string
  readonly status: string
  readonly createTime: number
}
interface Page {
  readonly values: readonly Delivery[]
  readonly next?: string
}

/** Fails for even levels until it is mended. */
function host() {
  let isMended = false
  const print = definePlug({
    name: 'print',
    version: '1.0.0',
    kind: 'actuator',
    input: { level: { type: 'integer' } },
    execute: async ({ properties }) => {
      await Promise.resolve()
      if (!isMended && Number(properties['level']) % 2 === 0) throw new Error('no paper')
      return { message: 'printed' }
    },
  })
  const given = { only: 'rules,broker', empty: true, rateLimit: '0' }
  return { opened: wholeHost(given, { plugs: () => [print] }), mend: () => void (isMended = true) }
}

async function tasks(host: WholeHost): Promise<readonly string[]> {
  const ids: string[] = []
  for (const name of ['one', 'two']) {
    const { ID } = await host.done<{ ID: string }>('POST', '/api/tasks', {
      sensors: [
        {
          label: 'level',
          name: 'streamingDataSensor',
          resource: '$',
          properties: { parameter: 'level', threshold: 0 },
        },
      ],
      actuators: [{ label: 'print', name: 'print', properties: { level: '${streamdata.level}' } }],
      triggers: [{ sourceLabel: 'level', destinationLabel: 'print', statesTrigger: ['Above'] }],
      task: { name, type: 'reactive', resource: 'tank' },
    })
    ids.push(ID)
  }
  return ids
}

const list = (host: WholeHost, query = '') => host.done<Page>('GET', `/api/deliveries${query}`)

describe('the deliveries of all tasks', () => {
  it('are listed newest first, by status, in pages, and of one tenant', async () => {
    const { opened } = host()
    await using on = await opened
    const ids = await tasks(on)
    for (const level of [1, 2, 3]) await on.done('POST', '/resources/tank/events', { level })
    await expect.poll(async () => (await list(on, '?status=pending')).values).toEqual([])
    const { values, next } = await list(on)
    expect([values.length, next]).toEqual([6, undefined])
    expect(new Set(values.map(({ task }) => task))).toEqual(new Set(ids))
    const times = values.map(({ createTime }) => createTime)
    expect(times).toEqual(times.toSorted((a, b) => b - a))
    expect((await list(on, '?status=dead')).values).toEqual(values.filter(({ status }) => status === 'dead'))
    const paged: Delivery[] = []
    for (let after: string | undefined = ''; after !== undefined;) {
      const page: Page = await list(on, `?limit=2${after && `&after=${encodeURIComponent(after)}`}`)
      paged.push(...page.values)
      after = page.next
    }
    expect(paged.map(({ id }) => id)).toEqual(values.map(({ id }) => id))
    expect((await on.done<Page>('GET', '/api/deliveries', undefined, 'umbrella')).values).toEqual([])
    expect(await on.ask('GET', '/api/deliveries?after=there')).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION' },
    })
  })

  it('that are dead are retried', async () => {
    const { opened, mend } = host()
    await using on = await opened
    await tasks(on)
    await on.done('POST', '/resources/tank/events', { level: 2 })
    await expect.poll(async () => (await list(on, '?status=dead')).values.length).toBe(2)
    const [dead] = (await list(on, '?status=dead')).values
    mend()
    const retry = `/api/tasks/${dead?.task}/deliveries/${encodeURIComponent(dead?.id ?? '')}/retry`
    expect(await on.done('POST', retry)).toMatchObject({ id: dead?.id, status: 'delivered', attempts: 2 })
    expect(await on.ask('POST', retry)).toMatchObject({ status: 400, body: { code: 'WRONG_STATUS' } })
    expect((await on.ask('POST', retry, undefined, 'umbrella')).status).toBe(404)
    expect((await list(on, '?status=dead')).values.length).toBe(1)
  })
})
