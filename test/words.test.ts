/** The language of the repository: documents have no banned words, and rooms of the source no more than their ceilings. */
import { describe, expect, it } from 'vitest'
import { bannedIn, wordsOfDocument, wordsOfSource } from './support/banned-words.ts'
import { filesUnder, readText } from './support/repository.ts'

const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'fixtures/README.md', ...filesUnder(['docs'], '.md')]

/** The most banned words in comments and string literals of each room. A ceiling may only fall. */
const CEILINGS: Readonly<Record<string, number>> = {
  'src/bench': 0,
  'src/cli': 0,
  'src/cluster': 0,
  'src/console': 0,
  'src/core/columnar': 0,
  'src/core/engine': 0,
  'src/core/graph': 0,
  'src/core/language': 0,
  'src/core/plug': 0,
  'src/core/rule': 0,
  'src/core/schedule': 0,
  'src/core/simulate': 0,
  'src/core/task': 0,
  'src/formats': 0,
  'src/host': 0,
  'src/jobs': 0,
  'src/kafka': 0,
  'src/kernel': 0,
  'src/log': 0,
  'src/mcp': 0,
  'src/platform': 0,
  'src/rules': 0,
  'src/services/alarms': 0,
  'src/services/broker': 0,
  'src/services/converter': 0,
  'src/services/functions': 0,
  'src/services/models': 0,
  'src/services/objects': 0,
  'src/services/queries': 0,
  'src/services/resources': 0,
  'src/services/rules': 0,
  'src/services/shared': 0,
  'src/services/audit': 0,
  'src/services/vault': 0,
  'src/services/webscripts': 0,
  'src/storage': 0,
  'src/testing': 0,
  '.ci': 0,
}
function total(counts: readonly ReadonlyMap<string, number>[]): number {
  return counts.flatMap((one) => [...one.values()]).reduce((sum, count) => sum + count, 0)
}

/** Sources that list the words themselves. */
const LISTS = ['test/words.test.ts', 'test/support/banned-words.ts']

function inRoom(room: string): number {
  const files = ['.ts', '.tsx'].flatMap((ending) => filesUnder([room], ending)).filter((path) => !LISTS.includes(path))
  return total(files.map((path) => bannedIn(wordsOfSource(readText(path)))))
}

describe('banned words', () => {
  it.each(pages)('are absent from %s', (page) => {
    expect([...bannedIn(wordsOfDocument(readText(page)))]).toEqual([])
  })

  it.each(Object.entries(CEILINGS))('of %s stay below its ceiling of %i', (room, ceiling) => {
    expect(inRoom(room)).toBeLessThanOrEqual(ceiling)
  })

  it('have a ceiling in every folder of the source', () => {
    const folders = new Set(filesUnder(['src'], '.ts').map((path) => path.split('/').slice(0, 2).join('/')))
    const rooms = [...folders].filter((path) => !path.endsWith('.ts'))
    expect(rooms.filter((room) => !Object.keys(CEILINGS).some((name) => name.startsWith(room)))).toEqual([])
  })
})

describe('the count', () => {
  it.each([
    ['/** Tells\n * nobody. */', { tells: 1, nobody: 1 }],
    ['throw new Error(`${x} is no id`)', { 'is no': 1 }],
    ['const told = 1 // is no longer told', { told: 1 }],
    ['// there is\n// no such file', { 'is no': 1 }],
    ['const gives = hears(anew)', {}],
  ])('of %j is %j', (source, expected) => {
    expect(Object.fromEntries(bannedIn(wordsOfSource(source)))).toEqual(expected)
  })

  it('of a document leaves out code', () => {
    const page = 'It `tells` them.\n\n```sh\necho nobody\n```\n\n<!-- told -->\n'
    expect([...bannedIn(wordsOfDocument(page))]).toEqual([])
  })
})
