/** Sample of `reflexarc rules`: a push of documents to a host on SQLite, a push that changes nothing, and a pull. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RulesAction, runRules } from '../../src/cli/rules.ts'
import { plain, type Terminal } from '../../src/cli/terminal.ts'
import { withFolder } from './host/folder.ts'
import { startHostProcess } from './host/host-process.ts'

export type RulesSubject = 'push' | 'again' | 'pull'

export interface RulesSample {
  readonly ms: number
  /** ms of CPU of the host */
  readonly cpu: number
}

/** Shares of the kinds of documents, in tenths. */
const SHARES = { templates: 3, tasks: 5, types: 1, converters: 1 } as const

export function rulesSample(request: { subject: RulesSubject; documents: number }): Promise<RulesSample> {
  return withFolder(async (folder) => {
    const { subject, documents } = request
    const [data, files, pulled] = [join(folder, 'data'), join(folder, 'files'), join(folder, 'pulled')]
    write(files, documents)
    const host = await startHostProcess(data)
    const run = async (action: RulesAction, path: string): Promise<RulesSample> => {
      const said: string[] = []
      await host.figures()
      const start = performance.now()
      const code = await runRules(action, path, { url: host.url, token: host.token }, terminal(said))
      const ms = performance.now() - start
      if (code !== 0) throw new Error(`${action} ended with ${code}: ${said.join('').slice(0, 500)}`)
      return { ms, cpu: (await host.figures()).cpu }
    }
    try {
      const first = await run('push', files)
      if (subject === 'push') return first
      if (subject === 'again') return await run('push', files)
      const sample = await run('pull', pulled)
      const found = readdirSync(pulled, { recursive: true }).filter((name) => /\w\.json$/.test(String(name))).length
      // beside them is the record of the folder
      if (found < documents) throw new Error(`${found} of ${documents} documents were pulled`)
      return sample
    } finally {
      await host.stop()
    }
  })
}

function write(folder: string, documents: number): void {
  const count = (kind: keyof typeof SHARES): number => (documents * SHARES[kind]) / 10
  const all = {
    types: (n: number) => ({ id: `type-${n}`, name: `Type ${n}` }),
    converters: (n: number) => ({ name: `converter-${n}`, type: 'velocity', template: `{"metrics":[{"n":${n}}]}` }),
    templates: (n: number) => ({ name: `template-${n}`, ...graph(80 + (n % 20)) }),
    tasks: (n: number) => ({ name: `task-${n}`, template: `template-${n % count('templates')}`, resource: `r-${n}` }),
  }
  for (const [kind, make] of Object.entries(all)) {
    mkdirSync(join(folder, kind), { recursive: true })
    for (let n = 0; n < count(kind as keyof typeof SHARES); n++) {
      writeFileSync(join(folder, kind, `${n}.json`), JSON.stringify(make(n)))
    }
  }
}

function graph(threshold: number): object {
  return {
    sensors: [
      { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 'temperature', threshold } },
    ],
    actuators: [{ label: 'note', name: 'log', properties: { message: 'hot' } }],
    triggers: [{ sourceLabel: 'hot', destinationLabel: 'note', statesTrigger: ['Above'] }],
  }
}

function terminal(said: string[]): Terminal {
  return {
    out: (text) => void said.push(text),
    err: (text) => void said.push(text),
    paint: plain,
    outIsTerminal: false,
    errIsTerminal: false,
    closed: false,
    full: false,
    drained: () => Promise.resolve(),
  }
}
