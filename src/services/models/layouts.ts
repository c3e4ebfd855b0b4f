/** Which files the zip of a model has, by its framework. */
import type { Framework } from './contract.ts'

export interface Layout {
  readonly file: string
  /** folders and files that may stand beside it */
  readonly beside: readonly string[]
  readonly meaning: string
}

export const LAYOUTS: Readonly<Record<Framework, Layout>> = {
  sklearn: { file: 'model.joblib', beside: [], meaning: 'what joblib.dump made of a model' },
  xgboost: { file: 'model.bst', beside: [], meaning: 'what save_model of a Booster made' },
  pytorch: { file: 'model.pt', beside: [], meaning: 'what torch.jit.save made' },
  tensorflow: {
    file: 'saved_model.pb',
    beside: ['variables/', 'assets/', 'assets.extra/', 'fingerprint.pb', 'keras_metadata.pb'],
    meaning: 'a SavedModel',
  },
  custom: {
    file: 'model.dill',
    beside: ['lib/', 'requirements.txt'],
    meaning: 'what dill.dump made of an object with a method predict, or of a function',
  },
}

/** The file of a framework that has the model, or where it begins. */
export function mainFileOf(framework: Framework): string {
  return LAYOUTS[framework].file
}

/** Whether a file of that path is a part of a model. */
export function belongs(framework: Framework, path: string): boolean {
  const { file, beside } = LAYOUTS[framework]
  return path === file || beside.some((one) => (one.endsWith('/') ? path.startsWith(one) : path === one))
}
