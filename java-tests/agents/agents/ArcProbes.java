package agents;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.AdviceAdapter;

/**
 * Calls {@link Arcs} at a method's first instruction, before its returns, at its catch handlers,
 * and in a handler around the whole code, which rethrows. The frames of the class must be expanded.
 */
final class ArcProbes extends AdviceAdapter {
  private final String owner;
  private final String name;
  private final Label begin = new Label();
  private final Label end = new Label();
  private final Set<Label> handlers = new HashSet<>();
  private int depth;
  private boolean begun;
  private boolean atHandler;

  ArcProbes(MethodVisitor next, String owner, int access, String name, String descriptor) {
    super(Opcodes.ASM9, next, access, name, descriptor);
    this.owner = owner;
    this.name = name;
  }

  @Override
  public void visitCode() {
    super.visitCode();
    if (name.equals("<init>")) enter();
  }

  private void enter() {
    depth = newLocal(Type.INT_TYPE);
    mv.visitLdcInsn(Counts.idOf(owner + "." + name + methodDesc));
    call("enter", "(I)I");
    mv.visitVarInsn(ISTORE, depth);
  }

  private void call(String probe, String descriptor) {
    mv.visitMethodInsn(INVOKESTATIC, "agents/Arcs", probe, descriptor, false);
  }

  private void callWithDepth(String probe) {
    mv.visitVarInsn(ILOAD, depth);
    call(probe, "(I)V");
  }

  /** In a constructor: after the call of another constructor; nothing can be caught before it. */
  @Override
  protected void onMethodEnter() {
    if (!name.equals("<init>")) enter();
    mv.visitLabel(begin);
    begun = true;
  }

  @Override
  protected void onMethodExit(int opcode) {
    if (opcode != ATHROW) callWithDepth("exit");
  }

  @Override
  public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
    super.visitTryCatchBlock(start, end, handler, type);
    handlers.add(handler);
  }

  @Override
  public void visitLabel(Label label) {
    super.visitLabel(label);
    atHandler |= handlers.contains(label);
  }

  @Override
  public void visitFrame(int type, int locals, Object[] local, int stacks, Object[] stack) {
    super.visitFrame(type, locals, local, stacks, stack);
    if (atHandler) callWithDepth("resume");
    atHandler = false;
  }

  @Override
  public void visitMaxs(int stack, int locals) {
    if (begun) {
      mv.visitLabel(end);
      mv.visitTryCatchBlock(begin, end, end, null);
      Object[] known = depthAlone();
      mv.visitFrame(F_NEW, known.length, known, 1, new Object[] {"java/lang/Throwable"});
      callWithDepth("exit");
      mv.visitInsn(ATHROW);
    }
    super.visitMaxs(stack, locals);
  }

  /** Only the depth is needed, and handlers of other agents may not have the parameters. */
  private Object[] depthAlone() {
    Object[] locals = new Object[depth + 1];
    Arrays.fill(locals, Opcodes.TOP);
    locals[depth] = Opcodes.INTEGER;
    return locals;
  }
}
