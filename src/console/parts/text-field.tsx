/** A field whose text counts when it is complete: what is typed stays until then, whatever is loaded meanwhile. */
import { useState } from 'preact/hooks'

export interface TextFieldProps {
  readonly value: string
  /** more than one line */
  readonly rows?: number
  readonly placeholder?: string
  readonly inputMode?: 'numeric'
  readonly list?: string | undefined
  readonly 'aria-invalid'?: boolean
  readonly 'aria-describedby'?: string
  onChange(value: string): void
}

export function TextField({ value, rows, list, onChange, ...rest }: TextFieldProps) {
  const [typed, setTyped] = useState<string | undefined>()
  const shared = {
    ...rest,
    value: typed ?? value,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      setTyped(currentTarget.value),
    onChange: () => {
      if (typed !== undefined) onChange(typed)
      setTyped(undefined)
    },
  }
  if (rows !== undefined) return <textarea {...shared} rows={rows} />
  return list === undefined ? <input {...shared} /> : <input {...shared} list={list} />
}
