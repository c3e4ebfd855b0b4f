/**
 * Imports and exports as others see them: files become series, and series files, as jobs that survive a crash.
 *
 * IMPORT-1 a line of a file is in series, or in the report with what is wrong with it; whatever happens meanwhile
 * IMPORT-2 a sample is never there twice, and the counts of a report are those of one reading
 * IMPORT-3 memory does not grow with the file
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `CLOSED`.
 */
import type { Caller, Json } from '#kernel'
import type { TransferState } from './transfer.ts'

export type { TransferState } from './transfer.ts'
export { TRANSFER_STATES } from './transfer.ts'

/** What is shown of an import or export: times are ISO 8601. */
export interface TransferInfo {
  readonly id: string
  readonly state: TransferState
  /** path of the file in its bucket */
  readonly object: string
  readonly created: string
  readonly started?: string
  readonly ended?: string
  readonly error?: string
}

export interface ImportInfo extends TransferInfo {
  readonly etag: string
  /** bytes of the file, and how many of them were read */
  readonly size: number
  readonly read: number
  readonly messages: number
  readonly points: number
  /** lines */
  readonly refused: number
  /** the first of them; of a single import */
  readonly lines?: readonly { readonly line: number; readonly message: string; readonly suggestion?: string }[]
  /** how the file is to be read, as its metadata say: `unit`, `types`, `encoding` */
  readonly reading?: Readonly<Record<string, string>>
  /** what its columns are, by name; of a single import that was begun */
  readonly types?: Readonly<Record<string, string>>
  /** columns of texts with numbers among them, each with why; of a single import that was begun */
  readonly notes?: readonly { readonly line: number; readonly message: string }[]
}

export interface ExportInfo extends TransferInfo {
  /** what was asked for */
  readonly request: Json
  /** of the file, when it is there */
  readonly size?: number
}

export interface ImportQuery {
  /** path of the file */
  readonly object?: string | undefined
  readonly state?: TransferState | undefined
  /** default 200; above 1,000 it is 1,000 */
  readonly maxKeys?: number | undefined
}

export interface TransfersApi {
  /** Newest first. */
  imports(query?: ImportQuery): Promise<readonly ImportInfo[]>
  import(id: string): Promise<ImportInfo>
  /** Of `{ query }`, `{ stored }` or `{ resource, metrics?, from?, until? }`, with `object?`: it is queued. */
  startExport(body: unknown): Promise<ExportInfo>
  exports(query?: ImportQuery): Promise<readonly ExportInfo[]>
  export(id: string): Promise<ExportInfo>
}

export interface TransfersService {
  as(caller: Caller): TransfersApi
}
