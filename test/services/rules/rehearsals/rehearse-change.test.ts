/** Tests `rehearse=7d`: the difference that a change makes, over stored data. */
import { afterEach, expect, it } from 'vitest'
import { builtins } from '../../../../plugins/index.ts'
import { bench, type Bench, NOON } from '../support/bench-of-rules.ts'
import { PLUGS } from '../support/rules.ts'

const MINUTE = 60_000
const FROM = NOON - 10 * MINUTE

function hot(enter: unknown): object {
  return {
    name: 'hot',
    variables: [{ name: 'limit', type: 'double', defaultValue: 90 }],
    sensors: [
      { label: 'hot', name: 'hysteresis', resource: '$', properties: { value: 'temperature', enter, leave: 50 } },
    ],
    actuators: [{ label: 'alarm', name: 'createAlarm', properties: { type: 'HOT', text: 'hot' } }],
    triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', begins: ['On'] }],
  }
}

let on: Bench | undefined
afterEach(async () => {
  await on?.close()
  on = undefined
})

interface Answer {
  readonly version?: number
  readonly templateVersion?: number
  readonly rehearsal?: { readonly id: string; readonly coverage?: unknown; readonly comparison?: unknown }
  readonly details?: readonly unknown[]
}

async function asked(method: 'POST' | 'PUT' | 'GET', path: string, body?: object): Promise<[number, Answer]> {
  const { status, body: answer } = (await on?.ask(method, path, body)) ?? { status: 0, body: undefined }
  return [status, answer as Answer]
}

/** Three tasks of the template: two with its own limit, one with another. */
async function opened(): Promise<readonly string[]> {
  on = await bench({ plugs: [...PLUGS, ...builtins] })
  const samples = ['a', 'b', 'c'].flatMap((resource) =>
    [60, 85, 40, 95, 40].map((value, i) => ({ resource, metric: 'temperature', time: FROM + i * MINUTE, value })),
  )
  await on.storage.tenant('acme').series.append({ samples })
  expect(await asked('POST', '/api/templates', hot('${variables.limit}'))).toMatchObject([201, {}])
  const ids: string[] = []
  for (const [resource, variables] of [
    ['a', undefined],
    ['b', undefined],
    ['c', { limit: 99 }],
  ] as const) {
    const task = { name: resource, template: 'hot', resource, ...(variables && { variables }), start: false }
    const { body } = await on.ask('POST', '/api/tasks', task)
    ids.push((body as { readonly ID: string }).ID)
  }
  return ids
}

it('compares a new version of a template with its tasks', async () => {
  await opened()
  const [status, answer] = await asked('PUT', '/api/templates/hot?rehearse=7d', hot(80))
  expect([status, answer]).toMatchObject([
    200,
    {
      version: 2,
      rehearsal: {
        status: 'done',
        coverage: { summary: '2 of 2 resources had data' },
        comparison: { counts: { equal: 2, added: 2, removed: 0, moved: 0 } },
      },
    },
  ])
})

it('compares a task with what it is after a reload, with its own variables', async () => {
  const [, , id = ''] = await opened()
  await asked('PUT', '/api/templates/hot', hot(80))
  const preview = await asked('POST', `/api/tasks/${id}/command/reload?dryRun=true&rehearse=1d`)
  const rehearsal = { status: 'done', comparison: { counts: { equal: 0, added: 2, removed: 0, moved: 0 } } }
  expect(preview).toMatchObject([200, { changed: true, rehearsal }])
  const [status, done] = await asked('POST', `/api/tasks/${id}/command/reload?rehearse=1d`)
  expect([status, done]).toMatchObject([200, { templateVersion: 2, rehearsal }])
  const [, list] = await asked('GET', `/api/tasks/${id}/rehearsals`)
  expect(list).toMatchObject([{ task: id }, { task: id }])
  expect(await asked('GET', `/api/rehearsals/${done.rehearsal?.id ?? ''}`)).toMatchObject([200, rehearsal])
})

it('changes nothing if it cannot rehearse', async () => {
  await opened()
  const lonely = { ...hot(80), name: 'lonely' }
  await asked('POST', '/api/templates', lonely)
  const [status, answer] = await asked('PUT', '/api/templates/lonely?rehearse=7d', { ...lonely, description: 'new' })
  expect([status, answer.details]).toMatchObject([400, [{ path: '/rehearse', type: 'RESOURCE' }]])
  expect(await asked('GET', '/api/templates/lonely')).toMatchObject([200, { version: 1 }])
  expect((await asked('PUT', '/api/templates/hot?rehearse=soon', hot(80)))[0]).toBe(400)
})

it('rehearses a draft beside the published version', async () => {
  await opened()
  expect(await asked('PUT', '/api/templates/hot?draft=true', hot(80))).toMatchObject([200, { version: 2 }])
  const request = {
    template: 'hot',
    templateVersion: 2,
    compareWith: { template: 'hot' },
    resources: ['a'],
    source: { from: FROM, until: FROM + 10 * MINUTE },
  }
  const [status, answer] = await asked('POST', '/api/rehearsals', request)
  expect([status, answer]).toMatchObject([200, { comparison: { counts: { equal: 1, added: 1, removed: 0 } } }])
})
