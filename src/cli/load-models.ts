/** Loads models from files for simulated rules: XGBoost boosters, which run in this process. */
import { readFile } from 'node:fs/promises'
import { labelsOf } from '#host/spi'
import type { ModelPort } from '#core'
import { AppError, isPlainObject, type Json, messageOf } from '#kernel'
import { machineTimers } from '#platform'
import type { OpenModel } from '#services/models'
import { xgboostDriver } from '#services/models/xgboost'

/** Boosters by name, each given as `name=file`. Throws one `USAGE` for all unreadable files. */
export async function loadModels(files: readonly string[]): Promise<ModelPort> {
  const problems: string[] = []
  const models = new Map<string, OpenModel>()
  for (const text of files) {
    const at = text.indexOf('=')
    const [name, path] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
    try {
      if (name === '') throw new AppError('USAGE', 'write name=file, such as heat=model.bst')
      models.set(name, await readModel(name, path))
    } catch (error) {
      problems.push(`--model ${text}: ${messageOf(error)}`)
    }
  }
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
  const predict: ModelPort['predict'] = async ({ model, features }) => {
    const open = models.get(model)
    if (open === undefined)
      throw new AppError('NOT_FOUND', `unknown model ${model}; pass it with --model ${model}=FILE`)
    const instance = (isPlainObject(features) ? features : [...features]) as Json
    const [value = null] = await open.call({ operation: 'predict', instances: [instance] })
    return value
  }
  return { predict, classify: async (request) => labelsOf((await predict(request)) as Json) }
}

async function readModel(name: string, path: string): Promise<OpenModel> {
  const files = new Map([['model.bst', new Uint8Array(await readFile(path))]])
  const driver = xgboostDriver({ breathe: machineTimers.breathe })
  return driver.open({ tenant: '', name, framework: 'xgboost', digest: path, files })
}
