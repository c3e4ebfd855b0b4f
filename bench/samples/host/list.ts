/** Sample of pages of 100 among many tasks by two filters, at rest and right after a write. */
import { drive, spreadOf, type Spread } from '../calls.ts'
import { withFolder } from './folder.ts'
import { startHostProcess } from './host-process.ts'
import { createTask, createTasks, createTemplates, SITES, templateOf } from './tasks.ts'

const PAIRS: Readonly<Record<ListFilters, (n: number) => string>> = {
  'status, template': (n) => `status=running&template=${templateOf(n)}`,
  'status, type': () => 'status=running&type=periodic',
  'template, tag': (n) => `template=${templateOf(n)}&tags.site=site-${n % SITES}`,
  'status, tag': (n) => `status=running&tags.site=site-${n % SITES}`,
  'name, status': (n) => `name=boiler+${1 + (n % 9)}*&status=running`,
}

export type ListFilters = 'status, template' | 'status, type' | 'template, tag' | 'status, tag' | 'name, status'

export interface HostListSample {
  readonly pairs: readonly {
    readonly filters: string
    readonly atRest: Spread
    readonly afterWrite: Spread
  }[]
}

const ROUNDS = 300
const FILLERS = 64

export function hostListSample({ tasks }: { tasks: number }): Promise<HostListSample> {
  return withFolder(async (folder) => {
    const host = await startHostProcess(folder)
    const lanes = await host.connect(FILLERS)
    const [reader, writer] = lanes
    if (reader === undefined || writer === undefined) throw new Error('two connections are required')
    await createTemplates(reader)
    let created = (await createTasks(lanes, tasks)).length
    const pairs: HostListSample['pairs'][number][] = []
    for (const [filters, of] of Object.entries(PAIRS)) {
      const list = async (n: number, write: boolean): Promise<void> => {
        const answer = await reader.expect(200, 'GET', `/api/tasks?hits=100&startIndex=${(n % 3) * 100}&${of(n)}`)
        if (!write && answer.length < 1_000) throw new Error(`the page is empty: ${filters}`)
      }
      await drive(
        [reader],
        (n) => n < 50,
        (_, n) => list(n, false),
      )
      const atRest = await drive(
        [reader],
        (n) => n < ROUNDS,
        (_, n) => list(n, false),
      )
      const times: number[] = []
      for (let n = 0; n < ROUNDS; n += 1) {
        await createTask(writer, created++)
        const one = await drive(
          [reader],
          (first) => first < 1,
          () => list(n, true),
        )
        times.push(...one.times)
      }
      pairs.push({ filters, atRest: spreadOf(atRest.times), afterWrite: spreadOf(times) })
    }
    await host.stop()
    return { pairs }
  })
}
