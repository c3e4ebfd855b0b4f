/** Simulates clients that put, fetch, copy, move, list and delete objects, through signed URLs and the API. */
import { createHash } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json.ts'
import { TENANTS, type Outcome, type World } from '../world/world.ts'
import { KnownThing, isNoAnswer } from './known-thing.ts'
import { BUCKET, CONTENTS, fetchObject, OBJECTS, putObject } from './signed-objects.ts'
import type { ChangedObject, ServiceModel, Shared, SimulatedService } from './simulated-service.ts'

const FOLDERS = ['photos', 'plans'] as const
const NAMES = ['first', 'second', 'deep/third'] as const

/** bucket of all objects */
export const OBJECT_BUCKET = 'assets'
export const OBJECT_PATHS: readonly string[] = FOLDERS.flatMap((folder) => NAMES.map((name) => `${folder}/${name}`))

export const objects: SimulatedService = {
  name: 'objects',
  onlyWhenDrawn: true,
  drawnApart: true,
  cast: 0.12,
  needs: ['objects'],
  asks: [`GET ${OBJECTS}`, `PUT ${OBJECTS}`, `DELETE ${OBJECTS}`, `GET ${CONTENTS}`, `PUT ${CONTENTS}`],
  operations: {
    put: { weight: 5, draw: (chance, n) => ({ folder: chance.of(FOLDERS), name: chance.of(NAMES), n }) },
    putAtOnce: { weight: 2, draw: (chance, n) => ({ folder: chance.of(FOLDERS), n }) },
    fetch: { weight: 2, draw: (chance) => ({ folder: chance.of(FOLDERS), name: chance.of(NAMES) }) },
    copy: {
      weight: 3,
      draw: (chance) => ({
        folder: chance.of(FOLDERS),
        source: chance.of(NAMES),
        name: chance.of(NAMES),
        isMove: chance.is(0.5),
      }),
    },
    remove: { weight: 2, draw: (chance) => ({ folder: chance.of(FOLDERS), name: chance.of(NAMES) }) },
    clear: { weight: 1, draw: (chance) => ({ folder: chance.of(FOLDERS) }) },
    list: { weight: 2, draw: (chance) => ({ folder: chance.of(FOLDERS) }) },
    trespass: { weight: 1, draw: (chance) => ({ folder: chance.of(FOLDERS) }) },
  },
  model: (world, shared) => new Objects(world, shared),
}

/** The content number of each object in a folder. */
type State = Readonly<Partial<Record<string, number>>>

type Folder = KnownThing<State>

interface Given {
  readonly folder: string
  readonly name: string
  readonly source: string
  readonly isMove: boolean
  readonly n: number
}

class Objects implements ServiceModel {
  readonly #world: World
  readonly #shared: Shared
  readonly #folders = new Map<string, Folder>()
  /** by tenant: number of contents that may have been stored without becoming an object */
  readonly #doubtful = new Map<string, number>()

  constructor(world: World, shared: Shared) {
    this.#world = world
    this.#shared = shared
  }

  act(operation: string, tenant: string, given: JsonObject): void {
    const { folder: at, name, n, ...more } = given as unknown as Given
    const folder = this.#folder(tenant, at)
    folder.work(async () => {
      if (operation === 'put') await this.#put(folder, name, n)
      else if (operation === 'putAtOnce')
        await Promise.all(NAMES.map((one, place) => this.#put(folder, one, n + place / NAMES.length)))
      else if (operation === 'fetch') await this.#fetch(folder, name)
      else if (operation === 'copy') await this.#copy(folder, name, more)
      else if (operation === 'remove') await this.#remove(folder, name)
      else if (operation === 'clear') await this.#clear(folder)
      else if (operation === 'list') await this.#list(folder)
      else await this.#trespass(folder)
    })
  }

  async verify(tenant: string): Promise<void> {
    let records = 0
    for (const at of FOLDERS) {
      const folder = this.#folder(tenant, at)
      folder.rest()
      await this.#list(folder)
      if (folder.state === undefined) folder.find('nobody says what is in it')
      for (const name of NAMES) {
        const content = folder.state?.[name]
        this.#object(folder, name).etag = content === undefined ? null : etagOf(content)
      }
      const there = Object.keys(folder.state ?? {})
      for (const name of there) await this.#fetch(folder, name)
      records += there.length
    }
    // transfers put an unknown number of objects too
    if (this.#shared.services.includes('transfers')) return
    const contents = this.#world.medium.blobsOf(tenant).filter((path) => path.startsWith('contents/')).length
    const most = records + (this.#doubtful.get(tenant) ?? 0)
    if (contents < records || contents > most)
      this.#find(`${tenant} has ${contents} contents for ${records} objects; at most ${most} would be right`)
  }

  #folder(tenant: string, name: string): Folder {
    const key = `${tenant} ${name}`
    const named = { oracle: 'objects are as the model says', tenant, name }
    const folder = this.#folders.get(key) ?? new KnownThing<State>(this.#world, named, {})
    this.#folders.set(key, folder)
    return folder
  }

  async #put(folder: Folder, name: string, n: number): Promise<void> {
    const { tenant } = folder
    const outcome = await putObject(this.#world, { tenant, ...placeOf(folder, name) }, contentOf(n))
    if (outcome === undefined) return
    this.#placed(folder, outcome)
    this.#changed(folder, name, outcome)
    folder.told(`a put of ${name}`, outcome, (state) => inOrder({ ...state, [name]: n }))
  }

  async #copy(folder: Folder, name: string, { source, isMove }: Pick<Given, 'source' | 'isMove'>): Promise<void> {
    const { tenant, name: at } = folder
    const from = encodeURIComponent(`${at}/${source}`)
    const url = `${BUCKET}/${OBJECT_BUCKET}/${at}/${name}?source=${from}&move=${isMove}`
    const outcome = await this.#world.ask({ method: 'PUT', url, tenant })
    if (!isMove) this.#placed(folder, outcome)
    if (source !== name) {
      this.#changed(folder, name, outcome)
      if (isMove) this.#changed(folder, source, outcome)
    }
    folder.told(`a copy of ${source} to ${name}`, outcome, (state) => {
      const { [source]: content, ...others } = state
      if (content === undefined) return undefined
      return inOrder({ ...(isMove ? others : state), [name]: content })
    })
  }

  async #remove(folder: Folder, name: string): Promise<void> {
    const url = `${BUCKET}/${OBJECT_BUCKET}/${folder.name}/${name}`
    const outcome = await folder.ask(`a removal of ${name}`, { method: 'DELETE', url }, (state) => {
      const { [name]: content, ...others } = state
      return content === undefined ? undefined : others
    })
    this.#changed(folder, name, outcome)
  }

  async #clear(folder: Folder): Promise<void> {
    const url = `${BUCKET}/${OBJECT_BUCKET}/${folder.name}/?recursive=true`
    const { states } = folder
    const outcome = await folder.ask('a removal of all', { method: 'DELETE', url }, () => ({}))
    for (const name of NAMES) {
      const isThere = states.filter((state) => state[name] !== undefined).length
      if (isThere === states.length) this.#changed(folder, name, outcome)
      else if (isThere > 0 && outcome.kind !== 'refused') this.#object(folder, name).most++
    }
  }

  async #list(folder: Folder): Promise<void> {
    const { tenant, name } = folder
    const url = `${BUCKET}/${OBJECT_BUCKET}/${name}/?recursive=true`
    const { kind, answer } = await this.#world.ask({ method: 'GET', url, tenant })
    if (kind !== 'answered') return
    const { objects: listed } = answer.body as { objects: readonly { name: string; etag: string; size: number }[] }
    const seen = listed.map((one) => `${one.name} ${one.etag} ${one.size}`).join()
    folder.see(seen, (state) => listedAs(name, state) === seen)
  }

  async #fetch(folder: Folder, name: string): Promise<void> {
    const { life } = this.#world
    const outcome = await fetchObject(this.#world, { tenant: folder.tenant, ...placeOf(folder, name) })
    if (outcome === undefined) return
    const { kind, answer } = outcome
    if (answer?.status === 404) return folder.see(`without ${name}`, (state) => state[name] === undefined)
    if (kind === 'answered') {
      const isIt = (state: State): boolean => state[name] !== undefined && contentOf(state[name]) === answer.body
      return folder.see(`${name} with ${JSON.stringify(answer.body)}`, isIt)
    }
    if (kind === 'refused' && !isNoAnswer(outcome) && life === this.#world.life)
      folder.find(`${name} could not be fetched: ${JSON.stringify(answer)}`)
  }

  /** Checks that a tenant cannot reach another tenant's bucket by name. */
  async #trespass({ tenant, name }: Folder): Promise<void> {
    const other = TENANTS.find((one) => one !== tenant)
    const url = `${BUCKET}/reflexarc-ws-${OBJECT_BUCKET}-${other}/${name}/`
    const { kind, answer } = await this.#world.ask({ method: 'GET', url, tenant })
    if (kind === 'answered') this.#find(`${tenant} reached ${url}: ${JSON.stringify(answer.body)}`)
  }

  #object({ tenant, name: folder }: Folder, name: string): ChangedObject {
    const path = `${folder}/${name}`
    const found = this.#shared.objects.find((one) => one.tenant === tenant && one.path === path)
    if (found !== undefined) return found
    const fresh = { tenant, path, least: 0, most: 0 }
    this.#shared.objects.push(fresh)
    return fresh
  }

  /** Records a change that happened once, unless it was refused. */
  #changed(folder: Folder, name: string, { kind }: Outcome): void {
    const object = this.#object(folder, name)
    if (kind === 'answered') object.least++
    if (kind !== 'refused') object.most++
  }

  /** Records a stored content; without a response, it may remain as garbage. */
  #placed({ tenant }: Folder, outcome: Outcome): void {
    if (outcome.kind === 'answered') return
    this.#doubtful.set(tenant, (this.#doubtful.get(tenant) ?? 0) + 1)
  }

  #find(text: string): void {
    this.#world.find('objects are as the model says', text)
  }
}

function placeOf({ name: folder }: Folder, name: string): { bucket: string; path: string } {
  return { bucket: OBJECT_BUCKET, path: `${folder}/${name}` }
}

/** Sorts the names, so that equal folders have equal texts. */
function inOrder(state: State): State {
  return Object.fromEntries(NAMES.flatMap((name) => (state[name] === undefined ? [] : [[name, state[name]]])))
}

function contentOf(n: number): string {
  return `content ${n}`
}

function etagOf(n: number): string {
  return createHash('md5').update(contentOf(n)).digest('hex')
}

function listedAs(folder: string, state: State): string {
  const lines = Object.entries(state).map(([name, n = 0]) => {
    return `${folder}/${name} ${etagOf(n)} ${contentOf(n).length}`
  })
  return lines.toSorted().join()
}
