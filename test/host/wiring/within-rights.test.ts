// Holds RIGHTS-1, RIGHTS-2
import { expect, it } from 'vitest'
import { asTask, withinRights } from '../../../src/host/wiring/within-rights.ts'
import { SCOPES, type Scope } from '../../../src/kernel/rights.ts'
import { actingWith, eachWith, withRightsOfNow } from '../../../src/platform/acting.ts'
import type { PlugServices } from '../../../src/core/ports.ts'
import { definePlug } from '../../../src/plug.ts'

const NAMES = {
  alarms: ['raise', 'update', 'clear', 'latest', 'find', 'check'],
  resources: ['patch', 'get', 'children', 'find', 'checkPatch'],
  data: ['post', 'command', 'messages', 'latest', 'series', 'checkMessage', 'checkCommand'],
  queries: ['execute', 'check'],
  webscripts: ['call'],
  models: ['predict', 'classify'],
  objects: ['put', 'get'],
}
type Called = (name: string) => Promise<unknown>

const called = (() => 'called') as () => unknown
const ports = Object.entries(NAMES).map(([port, names]) => [port, Object.fromEntries(names.map((n) => [n, called]))])
const services = withinRights(Object.fromEntries(ports) as PlugServices)
const call = (name: string): unknown => {
  const [port = '', method = ''] = name.split('.')
  return (services as unknown as Record<string, Record<string, Called>>)[port]?.[method]?.('x')
}
const isOpen = (scope: Scope, name: string): Promise<boolean> =>
  actingWith({ scopes: [scope] }, async () => call(name)).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ code: 'FORBIDDEN' })
      expect(String(error)).toContain(`${name} needs the scope`)
      return false
    },
  )

const READERS: readonly Scope[] = ['read', 'operate', 'author', 'publish', 'admin']
const OPERATORS: readonly Scope[] = ['operate', 'admin']

it.each<[readonly Scope[], string]>([
  [OPERATORS, 'alarms.raise alarms.update alarms.clear resources.patch data.command objects.put'],
  [OPERATORS, 'webscripts.call models.predict models.classify'],
  [['device', ...OPERATORS], 'data.post'],
  [READERS, 'alarms.latest alarms.find resources.get resources.children resources.find'],
  [READERS, 'data.messages data.latest data.series queries.execute objects.get'],
  [SCOPES, 'alarms.check resources.checkPatch data.checkMessage data.checkCommand queries.check'],
])('rules of keys with %j, and no others, may call %s', async (scopes, names) => {
  for (const name of names.split(' ')) {
    const open: Scope[] = []
    for (const scope of SCOPES) if (await isOpen(scope, name)) open.push(scope)
    expect([name, open.toSorted()]).toEqual([name, scopes.toSorted()])
  }
})

it('a call of the host itself has all rights', () => {
  expect(call('alarms.raise')).toBe('called')
})

it('each step of a run has the rights of its caller, and so have calls from another thread', async () => {
  async function* steps() {
    yield await Promise.resolve(call('alarms.raise')).catch(() => 'refused')
  }
  const found: unknown[] = []
  for await (const step of eachWith({ scopes: ['read'] }, steps())) found.push(step)
  expect(found).toEqual(['refused'])
  const bound = actingWith({ scopes: ['read'] }, () => withRightsOfNow(call))
  await expect(bound('alarms.raise')).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

it.each([
  ['AsyncFunction', async () => Promise.resolve({})],
  ['Function', () => ({})],
])('a plug with rights stays a %s, by which a recovery recognizes calls that take time', (kind, execute) => {
  const plug = definePlug({ name: 'act', version: '1.0.0', kind: 'actuator', execute })
  expect(asTask(plug, () => undefined).execute.constructor.name).toBe(kind)
})
