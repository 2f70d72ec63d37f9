// The button that opens and closes a row of a tree; undefined: nothing is below it.
export function Twig({ open, onToggle }: { open: boolean | undefined; onToggle(): void }) {
  if (open === undefined) return <span class="twig" />;
  return (
    <button
      type="button"
      class="twig"
      tabIndex={-1}
      aria-label={open ? 'close' : 'open'}
      onClick={(event) => {
        event.stopPropagation();
        onToggle();
      }}
    >
      {open ? '▾' : '▸'}
    </button>
  );
}
