/** Loads plugs of the original platform: a function of `options` and `send`, or just its statements. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { messageOf } from '../../../kernel/errors.ts'
import { isPlainObject } from '../../../kernel/json.ts'
import type { PlugResult } from '../../../core/plug/plug.ts'
import type { PlugCallParams } from './plug-call.ts'

type SendOptions = Readonly<{ requiredProperties: PlugCallParams['properties'] }> &
  Pick<PlugCallParams, 'rawData' | 'actuatorData' | 'internalState' | 'task' | 'node' | 'globalSettings'>

type Send = (error?: unknown, value?: unknown) => void
export type SendPlug = (options: SendOptions, send: Send) => unknown

/** The original platform's utility package, which the runtime provides. */
export const UTILITIES = '@waylay/sandbox-util'
const MODULE =
  /(?:^|[^\w.$])(?:module\s*\.\s*exports|exports\s*[.[]|export\s+(?:default|const|let|function|async|class|\{))/m

export function isSendPlug(value: unknown): value is SendPlug {
  return typeof value === 'function' && value.length <= 2
}

/** Loads a plug written as statements; undefined when the file is a module. */
export function scriptOf(path: string): SendPlug | undefined {
  const text = readFileSync(path, 'utf8')
  if (MODULE.test(text) || !/\bsend\b/.test(text)) return undefined
  const names = ['options', 'send', 'require', 'waylayUtil'] as const
  const { constructor: Statements } = Object.getPrototypeOf(async () => undefined) as {
    readonly constructor: new (...parts: readonly string[]) => (...values: readonly unknown[]) => Promise<unknown>
  }
  const script = new Statements(...names, `${text}\n`)
  const utilities = { getRawData, getStreamData, getCacheData, getResource, getProperty }
  return (options, send) => script(options, send, createRequire(path), utilities)
}

/** Calls the plug. Only the first value sent counts; a returned object counts as sent. */
export function callSendPlug(plug: SendPlug, params: PlugCallParams): Promise<PlugResult> {
  const { properties: requiredProperties, rawData, actuatorData, internalState, task, node, globalSettings } = params
  const options = { requiredProperties, rawData, actuatorData, internalState, task, node, globalSettings }
  return new Promise((resolve, reject) => {
    const send: Send = (error, value) => {
      if (error === undefined || error === null) resolve(resultOf(value))
      else reject(error instanceof Error ? error : new Error(messageOf(error)))
    }
    Promise.resolve()
      .then(() => plug(options, send))
      .then((value) => isPlainObject(value) && send(null, value), reject)
  })
}

function resultOf(value: unknown): PlugResult {
  const { observedState, ...rest } = (isPlainObject(value) ? value : {}) as PlugResult & {
    readonly observedState?: string
  }
  return { ...rest, ...(observedState !== undefined && { state: observedState }) }
}

export function getRawData({ rawData }: SendOptions, node: string, name?: string): unknown {
  const data = rawData[node]
  const found = name === undefined ? data : data?.[name]
  if (found === undefined) throw new Error(`the node ${node} has no raw data${name === undefined ? '' : ` ${name}`}`)
  return found
}

export function getStreamData({ rawData }: SendOptions, name?: string): unknown {
  const data = rawData['GLOBAL']
  return name === undefined ? data : data?.[name]
}

export function getCacheData({ rawData, node }: SendOptions, name: string): unknown {
  return rawData[node.NAME]?.[name]
}

export function getResource({ node, task }: SendOptions): string | undefined {
  return node.RESOURCE ?? task.RESOURCE
}

export function getProperty({ requiredProperties }: SendOptions, name: string): unknown {
  return requiredProperties[name]
}
