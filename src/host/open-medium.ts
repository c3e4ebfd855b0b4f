import { AppError } from '../kernel/errors.ts'
import type { Storage } from '../storage/contract.ts'
import type { Config } from './config.ts'

/** Opens the store that was chosen. Only its own medium is loaded. `STORE` when it cannot be used. */
export async function openMedium({ store }: Config): Promise<Storage> {
  throw new AppError('STORE', `there is no medium ${store.medium} yet`)
}
