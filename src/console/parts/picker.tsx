/** A dialog with a field and the options that match it, chosen by arrows and Enter or by a press. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'

export interface Option {
  readonly key: string
  readonly icon: IconName
  readonly name: string
  /** kind or group, at the end of the line */
  readonly what: string
  /** second line */
  readonly more?: string
}

export interface PickerProps<T extends Option> {
  /** what the field is for */
  readonly label: string
  find(text: string): readonly T[] | Promise<readonly T[]>
  choose(option: T): void
  onClose(): void
}

export function Picker<T extends Option>({ label, find, choose, onClose }: PickerProps<T>) {
  const element = useRef<HTMLDialogElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const [text, setText] = useState('')
  const [found, setFound] = useState<readonly T[]>([])
  const [chosen, setChosen] = useState(0)
  useEffect(() => element.current?.showModal(), [])
  useEffect(() => {
    let isCurrent = true
    const timer = setTimeout(() => {
      void Promise.resolve(find(text.trim())).then((options) => {
        if (!isCurrent) return
        setFound(options)
        setChosen(0)
      })
    }, 120)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text])
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' }), [chosen])
  const take = (option: T | undefined): void => {
    if (option === undefined) return
    onClose()
    choose(option)
  }
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) setChosen((chosen + step + found.length) % Math.max(1, found.length))
    else if (event.key === 'Enter') take(found[chosen])
    else return
    event.preventDefault()
  }
  return (
    <dialog
      ref={element}
      class="search"
      aria-label={label}
      onClose={onClose}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${chosen}` : undefined}
        aria-label={label}
        placeholder={label}
        autoFocus
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={move}
      />
      <div role="listbox" id="found" aria-label="Found" ref={list}>
        {found.map((one, index) => (
          <div
            key={one.key}
            id={`found-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => take(one)}
          >
            <Icon name={one.icon} />
            <span>{one.name}</span>
            <span class="dim">{one.what}</span>
            {one.more !== undefined && <small>{one.more}</small>}
          </div>
        ))}
      </div>
      <p>{text !== '' && found.length === 0 ? `Nothing is called like “${text}”.` : 'Enter takes, Escape closes'}</p>
    </dialog>
  )
}
