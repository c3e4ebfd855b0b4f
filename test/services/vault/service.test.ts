/** Tests the vault over a store in memory. */
import { expect, it } from 'vitest'
import { Seal } from '../../../src/platform/seal.ts'
import { createVaultService } from '../../../src/services/vault/service.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

function started(key = 1, storage = openMemory(), tenant = 'acme') {
  let now = 1_000
  const vault = createVaultService({
    tenant,
    store: storage.tenant(tenant),
    seal: new Seal(new Uint8Array(32).fill(key)),
    now: () => (now += 1_000),
  })
  return { vault, storage, api: vault.as({ tenant, user: 'anna' }) }
}

const VALUE = 'sesame-7411'

it('returns values to the host, and only names to API callers', async () => {
  const { vault, api } = started()
  expect(await api.put('TOKEN', VALUE)).toEqual({
    created: true,
    secret: {
      name: 'TOKEN',
      createdBy: 'anna',
      createdAt: '1970-01-01T00:00:02.000Z',
      updatedBy: 'anna',
      updatedAt: '1970-01-01T00:00:02.000Z',
    },
  })
  await vault.as({ tenant: 'acme', user: 'bob' }).put('TOKEN', 'other')
  await api.put('KEY', 'ü')
  expect(await api.list()).toMatchObject([
    { name: 'KEY' },
    { name: 'TOKEN', createdBy: 'anna', updatedBy: 'bob', updatedAt: '1970-01-01T00:00:03.000Z' },
  ])
  const { values } = await vault.open(['KEY', 'TOKEN', 'NONE'])
  expect([...values]).toEqual([
    ['KEY', 'ü'],
    ['TOKEN', 'other'],
  ])
  await api.remove('TOKEN')
  expect((await vault.open(['TOKEN'])).values.size).toBe(0)
  await expect(api.remove('TOKEN')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

it('changes its revision at each write, also of an equal value', async () => {
  const { vault, api } = started()
  const revisions: string[] = []
  const note = async () => revisions.push((await vault.open(['A', 'B'])).revision)
  await api.put('A', VALUE)
  await note()
  await note()
  await api.put('A', VALUE)
  await note()
  await api.remove('A')
  await note()
  await api.put('A', VALUE)
  await note()
  await api.put('B', VALUE)
  await note()
  expect(revisions[1]).toBe(revisions[0])
  expect(new Set(revisions).size).toBe(5)
})

// Holds VAULT-2
it('stores no plain value, and cannot open a value with another key', async () => {
  const { api, storage } = started()
  await api.put('TOKEN', VALUE)
  const stored = await storage.tenant('acme').collection({ name: 'vault', version: 1, fields: {} }).get('TOKEN')
  expect(stored?.value).toMatchObject({ sealed: expect.stringMatching(/^enc:/) as string })
  expect(JSON.stringify(stored)).not.toContain(VALUE)
  const other = started(2, storage)
  await expect(other.vault.open(['TOKEN'])).rejects.toMatchObject({ code: 'STORE' })
  await other.api.put('TOKEN', 'again')
  expect((await other.vault.open(['TOKEN'])).values.get('TOKEN')).toBe('again')
})

// Holds VAULT-3
it('opens only secrets of its own tenant, not even one that was moved in the store', async () => {
  const { api, storage } = started()
  const { vault, api: theirs } = started(1, storage, 'umbrella')
  await api.put('TOKEN', VALUE)
  expect((await vault.open(['TOKEN'])).values.size).toBe(0)
  expect(await theirs.list()).toEqual([])
  const spec = { name: 'vault', version: 1, fields: {} }
  const stolen = await storage.tenant('acme').collection(spec).get('TOKEN')
  await storage
    .tenant('umbrella')
    .collection(spec)
    .put('TOKEN', stolen?.value ?? {}, 'absent')
  await expect(vault.open(['TOKEN'])).rejects.toMatchObject({ code: 'STORE' })
})

// Holds VAULT-1
it.each<[string, string, unknown, RegExp]>([
  ['without a value', 'A', '', /\/value <- must be a non-empty text/],
  ['with a value other than text', 'A', { deep: VALUE }, /\/value <- must be a non-empty text/],
  ['with one that is too long', 'A', VALUE.repeat(2_000), /has 22000 characters, more than 16384/],
  ['with half a character', 'A', `${VALUE}\ud800`, /half of a surrogate pair/],
  ['with a NUL', 'A', `${VALUE}\0`, /has a NUL/],
  ['with a name of blanks', 'a b', VALUE, /\/name <- must be/],
  ['with a name that begins with a digit', '1A', VALUE, /\/name <- must be/],
])('rejects a secret %s, without repeating its value', async (_title, name, value, problem) => {
  const { api } = started()
  const refused = api.put(name, value as string)
  await expect(refused).rejects.toMatchObject({ code: 'VALIDATION' })
  const text = String(await refused.catch((error: unknown) => error))
  expect(text).toMatch(problem)
  expect(text).not.toContain(VALUE)
})
