/** Simulates external webscripts instead of the host's own. Calls are recorded, and behave as plugs do. */
import type { MakeService } from '../../../src/host/wiring/service-dependencies.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import type { InternalWebscripts, ScriptAnswer, ScriptRequest } from '../../../src/services/webscripts/contract.ts'
import type { NoteBook } from './note-plug.ts'
import type { VirtualLoop } from './virtual-loop.ts'

export interface ScriptCall {
  readonly tenant: string
  readonly script: string
  /** equal for repeated calls */
  readonly key: string
  /** the JSON that was sent */
  readonly sent: unknown
  /** ms since the beginning of the run */
  readonly at: number
  /** ms of the successful response, if the caller still waited; undefined: none */
  doneAt?: number
}

type Script = Parameters<InternalWebscripts['call']>[0]

export class ScriptCalls {
  readonly list: ScriptCall[] = []
  readonly #loop: VirtualLoop
  readonly #notes: NoteBook

  /** `notes`: defines how the outside world behaves */
  constructor(loop: VirtualLoop, notes: NoteBook) {
    this.#loop = loop
    this.#notes = notes
  }

  /** Creates a host service in which every webscript exists and accepts every caller. */
  readonly make: MakeService = () => ({
    name: 'webscripts',
    description: 'Webscripts outside of this machine',
    routes: () => undefined,
    open: ({ tenant }) => ({ provides: { webscripts: this.#service(tenant) } }),
  })

  #service(tenant: string): InternalWebscripts {
    const notSimulated = (): never => {
      throw new AppError('CLOSED', 'the simulator has calls of webscripts alone')
    }
    return {
      choose: (name) => ({
        id: name,
        tenant,
        name,
        version: '1.0.0',
        draft: false,
        deprecated: false,
        status: 'running',
        isRunning: true,
        isPrivate: false,
      }),
      authenticate: async () => ({ isHeaderOurs: false, isOwner: false }),
      admit: () => undefined,
      call: (script, request) => this.#call(script, request),
      as: notSimulated,
      has: () => true,
      nameOf: () => undefined,
      answer: notSimulated,
      addLine: () => undefined,
      gauges: () => ({ open: 0, calls: 0, errors: 0 }),
    }
  }

  async #call({ tenant, name }: Script, { headers, body, signal }: ScriptRequest): Promise<ScriptAnswer> {
    const key = headers.find(([header]) => header === 'idempotency-key')?.[1] ?? ''
    const sent = JSON.parse(new TextDecoder().decode(body)) as unknown
    const entry: ScriptCall = { tenant, script: name, key, sent, at: this.#loop.elapsed }
    this.list.push(entry)
    const calledOff = new Promise<never>((_resolve, reject) => {
      const callOff = (): void => reject(new AppError('CLOSED', 'nobody waits for the webscript any more'))
      if (signal.aborted) callOff()
      else signal.addEventListener('abort', callOff, { once: true })
    })
    const answer = (status: number, text: string) => ({ status, headers: [], body: text })
    try {
      await Promise.race([this.#notes.behave(`${tenant} ${key}`, `call ${key} of ${tenant}`), calledOff])
    } catch (error) {
      if (error instanceof AppError && error.code === 'PLUG_FAILED') return answer(503, error.message)
      throw error
    }
    entry.doneAt = this.#loop.elapsed
    this.#notes.tell(`call ${key} of ${tenant} was made at ${entry.at.toFixed(3)} and is done`)
    return answer(200, 'taken')
  }
}
