/** Simulates uploads that become series, and series that become files. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import { BEGINNING } from '../world/virtual-loop.ts'
import type { World } from '../world/world.ts'
import { CONTENTS, fetchObject, listedObjects, OBJECTS, putObject } from './signed-objects.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

const IMPORTS = '/storage/v1/import'
const EXPORTS = '/storage/v1/export'
const ORACLE = 'files are series, and series files'

export const transfers: SimulatedService = {
  name: 'transfers',
  onlyWhenDrawn: true,
  drawnApart: true,
  cast: 0.1,
  needs: ['broker', 'resources', 'objects', 'subscriptions'],
  asks: [
    `GET ${OBJECTS}`,
    `GET ${CONTENTS}`,
    `PUT ${CONTENTS}`,
    `GET ${IMPORTS}`,
    `POST ${EXPORTS}`,
    `GET ${EXPORTS}/:id`,
    'GET /resources/:id/series/:metric/raw',
  ],
  operations: {
    put: {
      weight: 5,
      draw: (chance, n) => ({ n, rows: chance.between(1, 30), wrong: chance.of([0, 0, 1, 3]) }),
    },
    export: { weight: 3, draw: (chance, n) => ({ n, which: chance.below(1000) }) },
    look: { weight: 1, draw: () => ({}) },
  },
  model: (world) => new Transfers(world),
}

/** A file with lines for its own resource. */
interface Upload {
  readonly tenant: string
  readonly n: number
  readonly rows: number
  /** number of invalid lines */
  readonly wrong: number
  /** false: unknown whether the upload succeeded */
  readonly isCertain: boolean
  /** whether the host has shown it as imported */
  isDone: boolean
}

interface Export {
  readonly id: string
  readonly upload: Upload
  /** whether all of the upload was in series when the export was requested */
  readonly isWhole: boolean
}

interface Listed {
  readonly object: string
  readonly state: string
  readonly messages: number
  readonly points: number
  readonly refused: number
  readonly error?: string
}

class Transfers implements ServiceModel {
  readonly #world: World
  readonly #uploads: Upload[] = []
  readonly #exports: Export[] = []

  constructor(world: World) {
    this.#world = world
  }

  act(operation: string, tenant: string, given: JsonObject): void {
    const { n, rows, wrong, which } = given as { n: number; rows: number; wrong: number; which: number }
    this.#world.work(`transfers of ${tenant} ${n}`, async () => {
      if (operation === 'put') await this.#put(tenant, n, rows, wrong)
      else if (operation === 'look') await this.#look(tenant)
      else {
        const own = this.#uploads.filter((one) => one.tenant === tenant)
        const upload = own[which % Math.max(own.length, 1)]
        if (upload !== undefined) await this.#export(upload, n)
      }
    })
  }

  async #put(tenant: string, n: number, rows: number, wrong: number): Promise<void> {
    const outcome = await putObject(
      this.#world,
      { tenant, bucket: 'etl-import', path: pathOf(n) },
      contentOf(n, rows, wrong),
    )
    if (outcome === undefined || outcome.kind === 'refused') return
    this.#uploads.push({ tenant, n, rows, wrong, isCertain: outcome.kind === 'answered', isDone: false })
  }

  async #look(tenant: string): Promise<void> {
    const { kind, answer } = await this.#world.ask({ method: 'GET', url: `${IMPORTS}?max_keys=1000`, tenant })
    if (kind !== 'answered') return
    const { imports } = answer.body as { imports: readonly Listed[] }
    const done = new Set(imports.filter(({ state }) => state === 'completed').map(({ object }) => object))
    for (const upload of this.#uploads) if (upload.tenant === tenant && done.has(pathOf(upload.n))) upload.isDone = true
  }

  async #export(upload: Upload, n: number): Promise<void> {
    const { isDone, tenant } = upload
    const body = { resource: resourceOf(upload.n), object: `of-${upload.n}-by-${n}.csv` }
    const { kind, answer } = await this.#world.ask({ method: 'POST', url: EXPORTS, tenant, body })
    if (kind !== 'answered') return
    this.#exports.push({ id: (answer.body as { id: string }).id, upload, isWhole: isDone })
  }

  async verify(tenant: string): Promise<void> {
    const { body } = await this.#world.look({ method: 'GET', url: `${IMPORTS}?max_keys=1000`, tenant })
    const { imports = [] } = body as { imports?: readonly Listed[] }
    const reports = await listedObjects(this.#world, { tenant, bucket: 'etl-import', path: 'upload/' })
    const uploads = this.#uploads.filter((one) => one.tenant === tenant)
    for (const upload of uploads) {
      const own = imports.filter(({ object }) => object === pathOf(upload.n))
      await this.#verifyUpload(upload, own, reports.includes(`${pathOf(upload.n)}.report.json`))
    }
    const known = new Set(uploads.map(({ n }) => pathOf(n)))
    for (const { object } of imports)
      if (!known.has(object)) this.#find(`${tenant} put no ${object}, and it is imported`)
    for (const one of this.#exports) if (one.upload.tenant === tenant) await this.#verifyExport(one)
  }

  async #verifyUpload(upload: Upload, imports: readonly Listed[], hasReport: boolean): Promise<void> {
    const { tenant, n, rows, wrong, isCertain } = upload
    const name = `${pathOf(n)} of ${tenant}`
    const values = await this.#valuesOf(upload)
    const [own] = imports
    if (own === undefined) {
      if (isCertain || values.length > 0) this.#find(`${name} was put, and is no import; ${values.length} values`)
      return
    }
    const { state, messages, points, refused, error } = own
    const seen = [imports.length, state, messages, points, refused, hasReport].join(' ')
    const right = [1, 'completed', rows, rows, wrong, true].join(' ')
    if (seen !== right) this.#find(`${name} is ${seen} (${error}); right would be ${right}`)
    const expected = Array.from({ length: rows }, (_, i) => i)
    if (values.join() !== expected.join())
      this.#find(`${name} gave ${values.join()}; right would be ${expected.join()}`)
  }

  async #valuesOf({ tenant, n }: Upload): Promise<readonly number[]> {
    const url = `/resources/${resourceOf(n)}/series/v/raw?from=0&until=4000000000000&limit=2000`
    const { body } = await this.#world.look({ method: 'GET', url, tenant })
    const { series = [] } = body as { series?: readonly (readonly [number, number])[] }
    return series.map(([, value]) => value)
  }

  async #verifyExport({ id, upload, isWhole }: Export): Promise<void> {
    const { tenant, n, rows } = upload
    const { body } = await this.#world.look({ method: 'GET', url: `${EXPORTS}/${encodeURIComponent(id)}`, tenant })
    const { state, object = '', error = '' } = body as { state?: string; object?: string; error?: string }
    const name = `export ${id} of ${tenant}`
    if (state === 'failed' && !isWhole && error.endsWith('has no series')) return
    if (state !== 'completed') return this.#find(`${name} is ${state}: ${error}`)
    const outcome = await fetchObject(this.#world, { tenant, bucket: 'etl-export', path: object })
    const text = String(outcome?.answer?.body)
    const lines = text.trimEnd().split('\n').slice(1)
    const isOwn = lines.every((line) => line === lineOf(n, Number(line.split(',').at(-1))))
    if (!isOwn || lines.length > rows || (isWhole && lines.length < rows))
      this.#find(`${name} is ${JSON.stringify(text)}; ${rows} rows of ${resourceOf(n)} would be right`)
  }

  #find(text: string): void {
    this.#world.find(ORACLE, text)
  }
}

function pathOf(n: number): string {
  return `upload/file-${n}.csv`
}

function resourceOf(n: number): string {
  return `import-${n}`
}

function lineOf(n: number, value: number): string {
  return `${resourceOf(n)},${new Date(BEGINNING + value * 1000).toISOString()},${value}`
}

function contentOf(n: number, rows: number, wrong: number): string {
  const lines = Array.from({ length: rows }, (_, value) => lineOf(n, value))
  const bad = Array.from({ length: wrong }, () => `${resourceOf(n)},never,1`)
  return ['resource,timestamp,v', ...bad, ...lines, ''].join('\n')
}
