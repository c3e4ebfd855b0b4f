// Holds OBJECT-4, TABLE-1
import { describe, expect, it } from 'vitest'
import { isFolder } from '../../../src/services/objects/object-table.ts'
import { objectsWorld, pathsIn, putAll, type ObjectsWorld } from './support.ts'

const OTHERS = ['kept', 'kept/too', 'pre']

/** The existing paths, the path to remove, and the result: the objects left, or the error code. */
type Outcome = 'removed' | 'nothing' | 'NOT_FOUND' | 'CONFLICT'
type Row = readonly [
  name: string,
  objects: readonly string[],
  path: string,
  ...outcomes: readonly [Outcome, Outcome, Outcome],
]

const ROWS: readonly Row[] = [
  ['an exact object', ['f/a'], 'f/a', 'removed', 'removed', 'removed'],
  ['an exact object below a hidden folder', ['.f/a'], '.f/a', 'removed', 'removed', 'removed'],
  ['an exact object that is hidden', ['f/.a'], 'f/.a', 'removed', 'removed', 'removed'],
  ['an empty folder', ['f/.folder'], 'f/', 'removed', 'removed', 'removed'],
  ['an empty folder that is hidden', ['.f/.folder'], '.f/', 'removed', 'removed', 'removed'],
  ['a folder that does not exist', [], 'f/', 'NOT_FOUND', 'nothing', 'nothing'],
  ['a prefix of nothing', [], 'f', 'NOT_FOUND', 'nothing', 'nothing'],
  ['a prefix of objects', ['f/a', 'fb'], 'f', 'NOT_FOUND', 'removed', 'removed'],
  ['a prefix of objects, with its own part hidden', ['f/.a1', 'f/.a2'], 'f/.a', 'NOT_FOUND', 'removed', 'removed'],
  ['a folder with objects', ['f/.folder', 'f/a', 'f/g/b', 'f/h/.folder'], 'f/', 'CONFLICT', 'removed', 'removed'],
  ['a folder with an empty folder', ['f/g/.folder'], 'f/', 'CONFLICT', 'removed', 'removed'],
  ['a prefix of a hidden object', ['f/a', 'f/.h'], 'f', 'NOT_FOUND', 'CONFLICT', 'removed'],
  ['a folder with hidden objects', ['f/a', 'f/g/.h'], 'f/', 'CONFLICT', 'CONFLICT', 'removed'],
  ['a hidden folder with hidden objects', ['.f/.h'], '.f/', 'CONFLICT', 'CONFLICT', 'removed'],
]
const COLUMNS = [{}, { recursive: true }, { recursive: true, all: true }] as const

const CASES = ROWS.flatMap(([name, objects, path, ...outcomes]) =>
  COLUMNS.map((options, column) => ({
    name: `${name}, ${JSON.stringify(options)}`,
    objects,
    path,
    options,
    outcome: outcomes[column] ?? 'nothing',
  })),
)

/** Returns folders as lists show them, depth first from the top. */
async function foldersIn({ api }: ObjectsWorld, prefix = ''): Promise<readonly string[]> {
  const { entries } = await api.list('assets', prefix, { all: true })
  const folders = entries.filter(isFolder).map(({ path }) => path)
  const below = await Promise.all(folders.map((folder) => foldersIn({ api } as ObjectsWorld, folder)))
  return [...folders, ...below.flat()].sort()
}

const foldersOf = (paths: readonly string[]) =>
  [
    ...new Set(
      paths.flatMap((path) =>
        path
          .split('/')
          .slice(0, -1)
          .map((_, i, parts) => `${parts.slice(0, i + 1).join('/')}/`),
      ),
    ),
  ].sort()

describe('a removal', () => {
  it.each(CASES)('of $name: $outcome', async ({ objects, path, options, outcome }) => {
    const world = await objectsWorld()
    const { api, changes } = world
    await putAll(api, 'assets', ...OTHERS, ...objects)
    const before = await pathsIn(api, 'assets')
    const told = (await changes()).length
    const removing = api.remove('assets', path, options)
    if (outcome === 'removed') {
      const { paths, count } = await removing
      const gone = objects.filter((one) => one !== 'f/.folder' && !one.endsWith('/.folder'))
      expect(count).toBe(Math.max(gone.length, path.endsWith('/') ? 0 : 1, 'recursive' in options ? 0 : 1))
      if (gone.length > 0) expect(paths).toEqual([...gone].sort())
      expect(await pathsIn(api, 'assets')).toEqual(OTHERS)
      expect(await changes()).toHaveLength(told + objects.length)
    } else {
      if (outcome === 'nothing') expect(await removing).toEqual({ paths: [], count: 0 })
      else await expect(removing).rejects.toMatchObject({ code: outcome })
      expect(await pathsIn(api, 'assets')).toEqual(before)
      expect(await changes()).toHaveLength(told)
    }
    expect(await foldersIn(world)).toEqual(foldersOf(await pathsIn(api, 'assets')))
  })

  it('of more than a thousand objects returns the first thousand paths and the count', async () => {
    const world = await objectsWorld()
    const { api } = world
    const names = Array.from({ length: 1_203 }, (_, i) => `f/${i % 7}/${i}`)
    await Promise.all(names.map((name) => api.put('assets', name, new Uint8Array())))
    await putAll(api, 'assets', 'g')
    const { paths, count } = await api.remove('assets', 'f', { recursive: true })
    expect([paths.length, count]).toEqual([1_000, 1_203])
    expect([await pathsIn(api, 'assets'), await foldersIn(world)]).toEqual([['g'], []])
  })

  it('returns pages if requested', async () => {
    const { api } = await objectsWorld()
    await putAll(api, 'assets', 'f/a', 'f/b', 'f/c')
    const first = await api.remove('assets', 'f/', { recursive: true, maxKeys: 2 })
    expect(first).toEqual({ paths: ['f/a', 'f/b'], count: 2, next: 'f/b' })
    const second = await api.remove('assets', 'f/', { recursive: true, maxKeys: 2, startAfter: 'f/b' })
    expect(second).toEqual({ paths: ['f/c'], count: 1 })
  })

  it('requires the permission to delete, and a put the permission to write', async () => {
    const { api, service } = await objectsWorld()
    const { inside } = service
    await putAll(inside, 'etl-export', 'a.csv')
    await expect(api.remove('etl-export', 'a.csv')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(api.put('etl-export', 'b', new Uint8Array())).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(api.copy('etl-export', 'b', 'a.csv')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await pathsIn(api, 'etl-export')).toEqual(['a.csv'])
    await inside.remove('etl-export', 'a.csv')
  })
})
