// Holds PRESENCE-1, PRESENCE-2
import { expect, it } from 'vitest'
import { Presence } from '../../../src/host/wiring/presence.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import type { InternalResources } from '../../../src/services/resources/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { until } from '../../support/until.ts'

function world(missing: ReadonlySet<string> = new Set()) {
  const store = openMemory().tenant('t')
  const shown = new Map<string, unknown>()
  const note = async (id: string, presence: unknown) => void shown.set(id, presence)
  const resources = {
    patch: async (id: string, { presence }: { presence: string }) => {
      if (missing.has(id)) throw new AppError('NOT_FOUND', id)
      await note(id, presence)
    },
    create: ({ id, presence }: { id: string; presence: string }) => note(id, presence),
  }
  const api = { as: () => ({ resources }) } as unknown as InternalResources
  /** Starts a host, and returns what lets a minute pass. */
  const started = () => {
    const due: (() => void)[] = []
    const later = (_ms: number, work: () => void) => {
      due.push(work)
      return () => void due.splice(0)
    }
    const presence = new Presence({ tenant: 't', store, resources: () => api, later, report: () => undefined })
    presence.start()
    return { presence, passMinute: () => due.splice(0).forEach((work) => work()) }
  }
  return { shown, started }
}

const client = (clientId: string) => ({ clientId, user: 'key' })

it('a device that was connected when the host died is offline a minute after the next start, unless it returned', async () => {
  const { shown, started } = world(new Set(['removed']))
  const { presence: before } = started()
  for (const id of ['returns', 'gone', 'left', 'removed']) await before.change(id, client(id), true)
  await before.change('left', client('left'), false)
  shown.set('left', 'untouched')
  shown.delete('removed')
  const { presence: after, passMinute } = started()
  await after.change('returns', client('returns'), true)
  expect(shown.get('gone')).toBe('online')
  passMinute()
  await until(() => shown.get('gone') === 'offline')
  expect(Object.fromEntries(shown)).toEqual({ gone: 'offline', left: 'untouched', returns: 'online' })
})

it('a start that ends before the minute changes nothing', async () => {
  const { shown, started } = world()
  await started().presence.change('a', client('a'), true)
  const { presence, passMinute } = started()
  presence.stop()
  passMinute()
  expect(shown.get('a')).toBe('online')
})

it('a device is offline when its last client leaves', async () => {
  const { shown, started } = world()
  const { presence } = started()
  await presence.change('a', client('one'), true)
  // the client takes over its own connection, whose end is not reported
  await presence.change('a', client('one'), true)
  await presence.change('a', client('two'), true)
  await presence.change('a', client('one'), false)
  expect(shown.get('a')).toBe('online')
  await presence.change('a', client('two'), false)
  expect(shown.get('a')).toBe('offline')
})
