/** Creates the functions service of a host and its processes. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { randomBytes, randomUUID } from 'node:crypto'
import { builtins } from '#plugins'
import { exchange, headersOf, type Transport } from '#plugins/spi'
import { JobSlots } from '#jobs'
import { machineTimers } from '#platform'
import {
  closedNetworkProblem,
  confinedTools,
  DEFAULT_LIMITS,
  inspectMachine,
  type Machine,
  type PoolOptions,
  ProcessPool,
} from '#platform/sandbox'
import {
  Functions,
  FunctionPrograms,
  functionsErrorBody,
  functionsRoutes,
  type OpenedPool,
  webscriptOfProgram,
} from '#services/functions'
import { AllowList, AppError, isPlainObject } from '#kernel'
import type { Config } from '../config.ts'
import { serviceFolder } from '../service-folder.ts'
import type { MakeService } from './service-dependencies.ts'
import { served, type ServiceRegistry, type Tenants } from './service-registry.ts'
import { nodeTransport } from '../transport/node-transport.ts'
import { ownVersion } from '../version.ts'

interface Egress {
  readonly transport: Transport
  readonly allowed: AllowList
}

const METHOD = /^[A-Z]{1,20}$/

async function answerFunction(
  { transport, allowed }: Egress,
  question: string,
  params: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  if (question !== 'fetch' || !isPlainObject(params))
    throw refused(`the host does not know the question ${question.slice(0, 100)}`)
  const { url, method = 'GET', headers = {}, body } = params
  if (typeof url !== 'string') throw refused('fetch needs a url')
  if (typeof method !== 'string' || !METHOD.test(method)) throw refused('fetch needs a method such as GET')
  if (!isPlainObject(headers)) throw refused('headers must be an object')
  if (body !== undefined && typeof body !== 'string') throw refused('the body must be text')
  const {
    status,
    statusText,
    body: text,
  } = await exchange({ url, method, headers: headersOf(headers), body, signal }, transport, allowed)
  return { status, statusText, body: text }
}

function refused(why: string): AppError {
  return new AppError('PLUG_FAILED', why)
}

/** Maximum number of concurrent processes; each may use about 200 MB */
const PROCESSES = 16
const PROCESSES_OF_ONE = 2
const IDLE_MS = 60_000

export const makeFunctions: MakeService = ({
  figures,
  gauges,
  logger,
  now,
  config,
  plugs,
  tenants,
  tellWebscripts,
}) => {
  const { folder, stopWith } = serviceFolder(config, 'functions')
  const programs = new FunctionPrograms({
    folder: join(folder, 'builds'),
    environment: process.env,
    installFrom: config.installFrom,
    requirePinned: config.requirePinned,
    openPool: (log) => openPool(config, tenants, join(folder, 'empty'), log),
    logger,
  })
  const slots = new JobSlots()
  const builtInNames = new Set(builtins.map(({ name }) => name))
  figures.queue('function-jobs', ({ functions }) => functions?.gauges().openJobs)
  gauges.watchQueue('function-processes', () => programs.processes)
  return {
    name: 'functions',
    description: 'Plugs of tenants: versions, builds, and the processes that run them',
    errorBody: functionsErrorBody,
    routes: (app) =>
      functionsRoutes(app, {
        service: { as: (caller, type) => served(tenants.of(caller.tenant).functions).as(caller, type) },
        now,
        revision: ownVersion(),
      }),
    open: ({ tenant, store, services }) => {
      const functions = new Functions({
        tenant,
        store,
        programs,
        now,
        newSecret: () => randomBytes(32).toString('base64'),
        newId: () => randomUUID().replaceAll('-', '').slice(0, 21),
        isTaken: (name) => builtInNames.has(name) || plugs().some((plug) => plug.name === name),
        // rules only use functions of type plug
        usesOf: async ({ type, name, version }) =>
          type === 'plugs' ? usesOf(services, tenant, `${name}:${version}`) : 0,
        models: () => services.models,
        vault: () => services.vault,
        announceWebscripts: (ids, removed) => tellWebscripts?.(tenant, ids, removed) ?? Promise.resolve(),
        onLine: (line) => services.webscripts?.addLine(line),
        slots,
        logger,
      })
      return { provides: { functions }, life: functions }
    },
    warnings: () => programs.lacks,
    end: () => stopWith(() => programs.close()),
  }
}

async function openPool(
  config: Config,
  tenants: Tenants,
  emptyFolder: string,
  log: PoolOptions['log'],
): Promise<OpenedPool> {
  if (config.functions === 'off') {
    const launch = (): string => 'does not run: functions are off on this host'
    return { pool: undefined, lacks: [], tools: { launch, isClosed: false } }
  }
  mkdirSync(emptyFolder, { recursive: true })
  const confinement = config.functions === 'fenced' ? 'confined' : 'trusted'
  const machine = await inspectMachine({ confinement, emptyFolder, environment: process.env })
  const pool = new ProcessPool({ ...poolOptions(machine, config, tenants, emptyFolder), log })
  if (confinement === 'trusted') return { pool, lacks: machine.lacks }
  const launch = confinedTools({ machine, emptyFolder, environment: process.env })
  const problem = machine.interpreters.size === 0 ? undefined : await closedNetworkProblem(machine)
  const lacks =
    problem === undefined
      ? []
      : [`npm and pip can reach the whole network instead of only their registries: ${problem}`]
  return { pool, lacks: [...machine.lacks, ...lacks], tools: { launch, isClosed: problem === undefined } }
}

function poolOptions(
  machine: Machine,
  { allowUrl }: Config,
  tenants: Tenants,
  emptyFolder: string,
): Omit<PoolOptions, 'log'> {
  const transport = nodeTransport({ allow: allowUrl })
  const allowed = new AllowList(allowUrl)
  return {
    machine,
    emptyFolder,
    limits: DEFAULT_LIMITS,
    processes: PROCESSES,
    perProgram: PROCESSES_OF_ONE,
    idleMs: IDLE_MS,
    later: machineTimers.later,
    clock: () => performance.now(),
    answer: async (program, method, params, signal) => {
      const webscript = webscriptOfProgram(program)
      const { webscripts } = tenants.of(program.owner)
      return webscript !== undefined && webscripts !== undefined && method !== 'fetch'
        ? webscripts.answer(webscript, method, params, signal)
        : answerFunction({ transport, allowed }, method, params, signal)
    },
  }
}

async function usesOf({ rules }: ServiceRegistry, tenant: string, plugin: string): Promise<number> {
  if (rules === undefined) return 0
  const api = rules.as({ tenant, user: 'system/functions' })
  const [tasks, templates] = await Promise.all([
    api.tasks.count({ plugin }),
    api.templates.list({ where: { plugin }, hits: 1, startIndex: 0, format: 'simplified', includeGraph: false }),
  ])
  return tasks + templates.total
}
